// A server on the official TypeScript SDK 2.x: both eras, with a tool that asks by rounds.
// usage: modern.mjs [PORT] — over HTTP at PORT, or over stdio

import { createServer } from 'node:http';
import process from 'node:process';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { McpServer, acceptedContent, createMcpHandler, inputRequired, inputResponse } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const where = z.object({ city: z.string().min(2), nights: z.number().int().min(1).max(30).default(2) });
const sure = z.object({ sure: z.boolean() });

function factory() {
  const server = new McpServer({ name: 'typescript', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.registerTool('travel', { description: 'Asks twice.', inputSchema: z.object({ who: z.string() }) }, ({ who }, ctx) => {
    const responses = ctx.mcpReq.inputResponses;
    const trip = acceptedContent(responses, 'where', where) ?? JSON.parse(ctx.mcpReq.requestState() ?? 'null');
    if (!trip) {
      const said = inputResponse(responses, 'where');
      if (said.kind === 'elicit' && said.action !== 'accept') return text(`no trip: ${said.action}`);
      const ask = inputRequired.elicit({ message: `Where does ${who} go?`, requestedSchema: where });
      return inputRequired({ inputRequests: { where: ask } });
    }
    const confirmed = acceptedContent(responses, 'sure', sure);
    if (!confirmed) {
      const ask = inputRequired.elicit({ message: `${trip.nights} nights in ${trip.city}?`, requestedSchema: sure });
      return inputRequired({ inputRequests: { sure: ask }, requestState: JSON.stringify(trip) });
    }
    return text(`${who}: ${trip.nights} nights in ${trip.city}, sure: ${confirmed.sure}`);
  });
  server.registerTool('link', { description: 'Asks to open a link.', inputSchema: z.object({}) }, (_, ctx) => {
    const said = inputResponse(ctx.mcpReq.inputResponses, 'link');
    if (said.kind === 'elicit') return text(`link: ${said.action}`);
    const ask = inputRequired.elicitUrl({ message: 'Sign in there.', url: 'https://example.com/sign-in' });
    return inputRequired({ inputRequests: { link: ask } });
  });
  return server;
}

function text(words) {
  return { content: [{ type: 'text', text: words }] };
}

const port = process.argv[2];
if (port) {
  createServer(toNodeHandler(createMcpHandler(factory))).listen(Number(port), '127.0.0.1');
} else {
  serveStdio(factory);
}
