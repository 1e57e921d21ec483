/** What MCP servers do is what the vectors say, with the official SDK on both sides. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { McpError } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

import { UNKNOWN } from '../src/consent.js';
import { CustomerContext } from '../src/context/index.js';
import { wrapServer } from '../src/mcp/index.js';
import { readOptions } from '../src/options.js';
import { PRODUCT_KEY } from './keys_of_tests.js';
import { cases } from './vectors.js';

const ENVELOPE = '_agentFeedback';
const URL_ELICITATION_REQUIRED = -32042;

/** What a server needs of an `AgentFeedback`; its events are kept. */
export function feedbackOf(settings) {
  const options = readOptions({ apiKey: PRODUCT_KEY, endpoint: 'http://127.0.0.1:9', ...settings });
  const events = [];
  return {
    options,
    events,
    telemetry: { put: (event) => events.push(event) },
    consent: { find: () => UNKNOWN },
    customerContext: CustomerContext.fromOptions(options),
  };
}

const RUN = {
  ok: () => ({ content: [{ type: 'text', text: 'bought' }], structuredContent: { sum: 3 } }),
  error: () => ({ content: [{ type: 'text', text: 'no' }], isError: true }),
  exception: () => {
    throw new McpError(URL_ELICITATION_REQUIRED, 'no', { elicitations: [] });
  },
};

/** Return a client of a shop with one tool, wrapped before or after it is registered. */
async function shop({ result = 'ok', outputSchema, isWrappedFirst = false, run = RUN[result], ...settings } = {}) {
  const feedback = feedbackOf(settings);
  const server = new McpServer({ name: 'shop', version: '1.0.0' });
  if (isWrappedFirst) {
    wrapServer(feedback, server);
  }
  server.registerTool('buy', { inputSchema: {}, ...(outputSchema ? { outputSchema } : {}) }, (_input, extra) =>
    run(extra),
  );
  wrapServer(feedback, server);
  const client = new Client({ name: 'ClaudeTest', version: '1.2' });
  const [serverSide, clientSide] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(serverSide), client.connect(clientSide)]);
  return { client, server, feedback };
}

function call(client, name = 'buy', callArguments = {}) {
  return client.callTool({ name, arguments: callArguments });
}

/** Return where the envelope of a result is, and the envelope. */
function envelopeOf(result) {
  if (result.structuredContent && ENVELOPE in result.structuredContent) {
    return { place: 'structuredContent', envelope: result.structuredContent[ENVELOPE] };
  }
  return { place: 'text', envelope: JSON.parse(result.content.at(-1).text)[ENVELOPE] };
}

for (const { name, input, expected } of cases('mcp')) {
  for (const isWrappedFirst of [false, true]) {
    test(`${name}, wrapped ${isWrappedFirst ? 'before' : 'after'} the tools`, async () => {
      if ('mode' in input) {
        const { client } = await shop({ mode: input.mode, isWrappedFirst });
        const { tools } = await client.listTools();
        assert.deepEqual(
          tools.map((tool) => tool.name),
          ['buy', ...expected],
        );
      } else if ('result' in input) {
        const { client, feedback } = await shop({ result: input.result, isWrappedFirst });
        const outcome = await call(client).catch((error) => error);
        assert.equal(outcome instanceof Error, input.result === 'exception');
        const [{ surface, classification, statusCode, operation }, ...others] = feedback.events;
        assert.deepEqual({ surface, classification, statusCode }, expected);
        assert.equal(operation, 'buy');
        assert.deepEqual(others, []);
      } else {
        const outputSchema = input.hasOutputSchema ? { sum: z.number() } : undefined;
        const { client } = await shop({ outputSchema, isWrappedFirst });
        await client.listTools();
        const result = await call(client);
        const { place, envelope } = envelopeOf(result);
        assert.deepEqual({ place, reliability: envelope.reliability }, expected);
        assert.equal(result.structuredContent.sum, 3);
      }
    });
  }
}

test('a result without structured content keeps its text in what is added', async () => {
  const run = () => ({ content: ['one', 'two'].map((text) => ({ type: 'text', text })) });
  const { structuredContent, content } = await call((await shop({ run })).client);
  assert.equal(structuredContent.result, 'one\ntwo');
  assert.equal(content.length, 2);
});

test('content other than text is not hidden by structured content', async () => {
  const image = { type: 'image', data: 'AA==', mimeType: 'image/png' };
  const result = await call((await shop({ run: () => ({ content: [image] }) })).client);
  assert.equal(result.structuredContent, undefined);
  assert.equal(envelopeOf(result).envelope.state, 'feedback_ready');
});

test('an error result has the envelope too', async () => {
  const result = await call((await shop({ result: 'error' })).client);
  assert.equal(result.isError, true);
  assert.equal(envelopeOf(result).envelope.state, 'feedback_ready');
});

test('an envelope of its own leaves a result alone, and is no interaction', async () => {
  const own = { content: [], structuredContent: { [ENVELOPE]: { v: 1 } } };
  const { client, feedback } = await shop({ run: () => own });
  assert.deepEqual((await call(client)).structuredContent, own.structuredContent);
  assert.deepEqual(feedback.events, []);
});

test('an unknown tool is no interaction', async () => {
  const { client, feedback } = await shop();
  assert.equal((await call(client, 'steal')).isError, true);
  assert.deepEqual(feedback.events, []);
});

test('a tool that declares a schema later is known by it', async () => {
  const { client, server } = await shop();
  const tool = server.registerTool('sell', { inputSchema: {} }, RUN.ok);
  assert.equal(envelopeOf(await call(client, 'sell')).place, 'structuredContent');
  tool.update({ outputSchema: { sum: z.number() } });
  assert.equal(envelopeOf(await call(client, 'sell')).place, 'text');
});

test('callbacks take the extra of the SDK, and the hint is what the client says of itself', async () => {
  const sources = [];
  const customerRef = (extra) => {
    sources.push(extra);
    return 'account_42';
  };
  const { client, feedback } = await shop({ customerRef, runtimeHint: 'user-agent' });
  await call(client);
  const [{ customerRef: reference, runtimeHint, runtimeHintSource }] = feedback.events;
  assert.deepEqual([reference, runtimeHint, runtimeHintSource], ['account_42', 'ClaudeTest/1.2', 'mcp']);
  assert.ok(sources[0].signal instanceof AbortSignal);
});

test('a callback that fails leaves the result as the tool made it', async (context) => {
  const warn = context.mock.method(console, 'warn', () => {});
  const customerRef = () => {
    throw new Error('no');
  };
  const result = await call((await shop({ customerRef })).client);
  assert.deepEqual(result.structuredContent, { sum: 3 });
  assert.equal(warn.mock.callCount(), 1);
});

test('what is no server of the SDK is refused', () => {
  assert.throws(() => wrapServer(feedbackOf(), {}), { name: 'InvalidOption' });
});
