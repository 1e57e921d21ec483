/** An MCP server for the conformance suite: business tools of every kind on the official SDK, over stdio. */

import { once } from 'node:events';

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

import { AgentFeedback } from 'agent-feedback';

const CALLBACKS = ['customerRef', 'sessionRef', 'operation', 'shouldInstrument'];

/** Make the SDK with the options of `$CONFORMANCE_OPTIONS`; there are no headers over stdio that callbacks could read. */
function makeFeedback() {
  const options = JSON.parse(process.env.CONFORMANCE_OPTIONS ?? '{}');
  const isCallback = (name, value) => CALLBACKS.includes(name) || (name === 'runtimeHint' && value !== 'user-agent');
  return new AgentFeedback(
    Object.fromEntries(
      Object.entries(options).map(([name, value]) => [name, isCallback(name, value) ? () => null : value]),
    ),
  );
}

const feedback = makeFeedback();
const server = new McpServer({ name: 'conformance', version: '1.0.0' });
const inputSchema = { text: z.string() };
const answer = (text) => ({ content: [{ type: 'text', text }] });

server.registerTool('plain', { inputSchema }, ({ text }) => answer(text));
server.registerTool('typed', { inputSchema, outputSchema: { text: z.string() } }, ({ text }) => ({
  ...answer(text),
  structuredContent: { text },
}));
server.registerTool('refuse', { inputSchema }, ({ text }) => ({ ...answer(text), isError: true }));
server.registerTool('fail', { inputSchema }, ({ text }) => {
  throw new Error(text);
});
server.registerTool('ask', { inputSchema }, ({ text }, extra) => {
  const fieldKeys = ['shopping.priority'];
  feedback.customerContext.ask(extra, { purpose: 'product_personalization', userRef: text, fieldKeys });
  return answer(text);
});

await feedback.mcp(server).connect(new StdioServerTransport());
await once(process.stdin, 'end');
await feedback.shutdown();
