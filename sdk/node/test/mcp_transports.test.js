/** MCP servers over standard input and output and over HTTP, with the official client and a service of their own. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

import { UNKNOWN } from '../src/consent.js';
import { CustomerContext } from '../src/context/index.js';
import { wrapServer } from '../src/mcp/index.js';
import { readOptions } from '../src/options.js';
import { COMPANY_KEY, PRODUCT_KEY } from './keys_of_tests.js';
import { closedUrl, startService, until } from './service.js';

const HANDLE = 'aqr1_0123456789abcdef0123456789abcdef';
const SHOP = fileURLToPath(new URL('programs/mcp_shop.js', import.meta.url));

/** Answer as the service does. */
function answer({ path, body }) {
  if (path.endsWith('/telemetry/batches')) {
    return { status: 202, body: { accepted: body.events.length, dropped: 0 } };
  }
  if (path.endsWith('/enrichment/requests')) {
    return { body: { state: 'answer_ready', submit: { url: 'x', authorization: `Bearer ${HANDLE}` } } };
  }
  return { body: { accepted: true } };
}

async function stdioClient(context, url) {
  const client = new Client({ name: 'tester', version: '1.0' });
  const env = {
    ...process.env,
    AGENT_FEEDBACK_URL: url,
    AGENT_FEEDBACK_KEY: PRODUCT_KEY,
    AGENT_FEEDBACK_COMPANY_KEY: COMPANY_KEY,
  };
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [SHOP], env }));
  context.after(() => client.close());
  return client;
}

async function httpClient(context, url, events = []) {
  const options = readOptions({ apiKey: PRODUCT_KEY, endpoint: url });
  const feedback = {
    options,
    telemetry: { put: (event) => events.push(event) },
    consent: { find: () => UNKNOWN },
    customerContext: CustomerContext.fromOptions(options),
  };
  // Without sessions, as many services run: a server for each request.
  const listener = createServer(async (request, response) => {
    const server = wrapServer(feedback, new McpServer({ name: 'shop', version: '1.0.0' }));
    server.registerTool('buy', {}, () => ({ content: [{ type: 'text', text: 'bought' }] }));
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    await server.connect(transport);
    await transport.handleRequest(request, response);
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const client = new Client({ name: 'tester', version: '1.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${listener.address().port}/mcp`)));
  context.after(async () => {
    await client.close();
    listener.closeAllConnections();
    listener.close();
  });
  return client;
}

const TRANSPORTS = { stdio: stdioClient, 'streamable HTTP': httpClient };

for (const [name, connect] of Object.entries(TRANSPORTS)) {
  test(`a call is wrapped and its review forwarded over ${name}`, { timeout: 20_000 }, async (context) => {
    const service = await startService(context, answer);
    const client = await connect(context, service.url);
    const { tools } = await client.listTools();
    assert.equal(tools.length, 6);
    const { structuredContent } = await client.callTool({ name: 'buy', arguments: {} });
    const { authorization } = structuredContent._agentFeedback.submitOutcome;
    const review = { outcome: 'success', note: 'It was bought at once.' };
    const result = await client.callTool({ name: 'report_product_outcome', arguments: { authorization, ...review } });
    assert.deepEqual(result.structuredContent, { accepted: true });
    const [{ path, body, headers }] = service.requests.filter((request) => request.path.endsWith('/outcomes'));
    assert.deepEqual([path, body], ['/api/v2/outcomes', review]);
    assert.equal(headers.authorization, authorization);
  });
}

test('telemetry of a call arrives, and its context action', { timeout: 20_000 }, async (context) => {
  const service = await startService(context, answer);
  const client = await stdioClient(context, service.url);
  const { structuredContent } = await client.callTool({ name: 'buy', arguments: {} });
  assert.equal(structuredContent._service.customerContext.state, 'answer_ready');
  const ofPath = (end) => service.requests.filter(({ path }) => path.endsWith(end));
  await until(() => ofPath('/batches').length === 1);
  const [{ operation, surface, classification }] = ofPath('/batches')[0].body.events;
  assert.deepEqual([operation, surface, classification], ['buy', 'mcp', 'confirmed']);
  const { body } = ofPath('/enrichment/requests')[0];
  assert.deepEqual([body.surface, body.userRef, body.operation], ['mcp', 'user_42', 'buy']);
  assert.equal(body.requestObservation, undefined);
});

test('the tools for agents tell of every failure as a result', { timeout: 20_000 }, async (context) => {
  const service = await startService(context, () => ({ status: 422, body: { code: 'unknown_catalog_entry' } }));
  const client = await httpClient(context, service.url);
  const use = (name, callArguments) => client.callTool({ name, arguments: callArguments });
  const refused = await use('share_customer_context', { authorization: HANDLE, status: 'declined' });
  assert.deepEqual([refused.isError, refused.structuredContent], [true, { code: 'unknown_catalog_entry' }]);
  const unauthorized = await use('record_customer_context_consent', { authorization: 'afr2_x', decision: 'approved' });
  assert.match(unauthorized.content[0].text, /authorization is missing/);
  const invalid = await use('share_customer_context', { authorization: HANDLE, status: 'declined', prompt: 'x' });
  assert.match(invalid.content[0].text, /members of its schema only/);
  assert.equal(service.requests.length, 1);
  const offline = await httpClient(context, await closedUrl());
  const unavailable = await offline.callTool({
    name: 'share_customer_context',
    arguments: { authorization: HANDLE, status: 'declined' },
  });
  assert.match(unavailable.content[0].text, /cannot be reached/);
  assert.equal(unavailable.isError, true);
});
