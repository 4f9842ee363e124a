// oidc-provider, with its login and consent pages, and the MCP server that it protects: server-everything, which knows
// nothing of all this and gets only what comes with a token. Prints its address and serves.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import { createRequire } from 'node:module';
import process from 'node:process';
import Provider from 'oidc-provider';

// Standard output has only the address, and may be closed after it.
console.info = console.error;
const server = http.createServer();
await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
const base = `http://127.0.0.1:${server.address().port}`;
const mcp = `${base}/mcp`;
// The lifetime of new tokens in seconds, and when the last one expires.
let life = 3600;
let end = 0;
const counts = { refreshed: 0, revoked: 0 };

// A port that was free a moment ago.
const probe = http.createServer().listen(0, '127.0.0.1');
await once(probe, 'listening');
const { port } = probe.address();
await new Promise((closed) => probe.close(closed));
const everything = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
const child = spawn(process.execPath, [everything, 'streamableHttp'], {
  env: { ...process.env, PORT: String(port) },
  stdio: ['ignore', 'ignore', 'pipe'],
});
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => process.exit(0));
process.on('exit', () => child.kill());
// The parent process is gone.
process.stdin.resume().on('end', () => process.exit(0));
let said = '';
await new Promise((ready) => {
  child.stderr.on('data', (bytes) => {
    said += bytes;
    if (said.includes('listening')) ready();
  });
});

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
  end = Date.now() + life * 1000;
  if (context.oidc.params.grant_type === 'refresh_token') counts.refreshed += 1;
});
const callback = provider.callback();

// Passes a request on to the MCP server, without the token, and streams its answer back.
function pass(request, body, response) {
  const { authorization, ...headers } = request.headers;
  const options = { port, host: '127.0.0.1', method: request.method, path: '/mcp', headers };
  const asked = http.request(options, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  asked.on('error', () => response.destroy());
  response.on('close', () => asked.destroy());
  asked.end(body);
}

server.on('request', async (request, response) => {
  const { pathname } = new URL(request.url, base);
  const json = (status, value, headers = {}) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(value));
  };
  if (pathname === '/counts') return json(200, { ...counts, alive: Date.now() < end });
  if (pathname.startsWith('/life/')) {
    life = Number(pathname.slice('/life/'.length));
    return json(200, {});
  }
  if (pathname.startsWith('/.well-known/oauth-protected-resource')) {
    return json(200, { resource: mcp, authorization_servers: [base], scopes_supported: ['read'] });
  }
  if (pathname === '/token/revocation') counts.revoked += 1;
  if (pathname !== '/mcp') return callback(request, response);
  const token = await provider.AccessToken.find((request.headers.authorization ?? '').slice('Bearer '.length));
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const at = `resource_metadata="${base}/.well-known/oauth-protected-resource/mcp"`;
  if (!token || token.isExpired) return json(401, {}, { 'www-authenticate': `Bearer ${at}` });
  // One tool needs more than the others.
  const isMore = request.method === 'POST' && JSON.parse(body).params?.name === 'get-sum';
  if (isMore && !token.scope.split(' ').includes('write')) {
    return json(403, {}, { 'www-authenticate': `Bearer error="insufficient_scope", scope="write", ${at}` });
  }
  return pass(request, body, response);
});
process.stdout.write(`${base}\n`);
