// oidc-provider, with its login and consent pages, and the MCP server that it protects. Prints its address and serves.

import http from 'node:http';
import process from 'node:process';
import Provider from 'oidc-provider';

// Standard output carries the address alone, and may be closed after it.
console.info = console.error;
const server = http.createServer();
await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
const base = `http://127.0.0.1:${server.address().port}`;
const mcp = `${base}/mcp`;
const life = Number(process.env.TOKEN_LIFE ?? 3600);
const counts = { refreshed: 0, revoked: 0 };

const provider = new Provider(base, {
  features: {
    registration: { enabled: true },
    revocation: { enabled: true },
    devInteractions: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => mcp,
      useGrantedResource: () => true,
      getResourceServerInfo: (context, resource) => ({
        scope: 'read write',
        audience: resource,
        accessTokenTTL: life,
        accessTokenFormat: 'opaque',
      }),
    },
  },
  scopes: ['openid', 'offline_access', 'read', 'write'],
  pkce: { required: () => true },
  rotateRefreshToken: true,
  clientDefaults: { grant_types: ['authorization_code', 'refresh_token'] },
  findAccount: (context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
});
provider.on('grant.success', (context) => {
  if (context.oidc.params.grant_type === 'refresh_token') counts.refreshed += 1;
});
const callback = provider.callback();

server.on('request', async (request, response) => {
  const { pathname } = new URL(request.url, base);
  const json = (status, value, headers = {}) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(value));
  };
  if (pathname === '/counts') return json(200, counts);
  if (pathname.startsWith('/.well-known/oauth-protected-resource')) {
    return json(200, { resource: mcp, authorization_servers: [base], scopes_supported: ['read'] });
  }
  if (pathname === '/token/revocation') counts.revoked += 1;
  if (pathname !== '/mcp') return callback(request, response);
  const token = await provider.AccessToken.find((request.headers.authorization ?? '').slice('Bearer '.length));
  let body = '';
  for await (const chunk of request) body += chunk;
  const at = `resource_metadata="${base}/.well-known/oauth-protected-resource/mcp"`;
  if (!token || token.isExpired) return json(401, {}, { 'www-authenticate': `Bearer ${at}` });
  if (request.method !== 'POST') return json(405, {});
  const { id, method } = JSON.parse(body);
  if (id === undefined) return json(202, {});
  if (method === 'tools/call' && !token.scope.split(' ').includes('write')) {
    return json(403, {}, { 'www-authenticate': `Bearer error="insufficient_scope", scope="write", ${at}` });
  }
  const results = {
    initialize: {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'oidc', version: '1' },
    },
    'tools/list': { tools: [{ name: 'write', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: 'written' }] },
  };
  const answer = results[method] ? { result: results[method] } : { error: { code: -32601, message: 'Method not found' } };
  return json(200, { jsonrpc: '2.0', id, ...answer });
});
process.stdout.write(`${base}\n`);
