/** `agent-feedback agent mcp`: the tools of a person's own agent, with the official client. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';

import { makeServer } from '../src/cli/mcp_server.js';
import { contract, instructions } from '../src/protocol.js';
import { NOTE, envelopeOf, inJson, introspection, startProduct } from './agent_pages.js';

const LIMIT = { timeout: 20_000 };
const MAIN = fileURLToPath(new URL('../src/cli/main.js', import.meta.url));
const CATALOG = [{ key: 'shopping.priority', type: 'preference', allowedValues: ['price'] }];

async function clientFor(...origins) {
  const client = new Client({ name: 'tester', version: '1.0' });
  const [serverSide, clientSide] = InMemoryTransport.createLinkedPair();
  await Promise.all([makeServer(origins).connect(serverSide), client.connect(clientSide)]);
  return async (name, values) => {
    const { isError = false, content, structuredContent } = await client.callTool({ name, arguments: values });
    return { isError, text: content[0].text, ...structuredContent };
  };
}

test('over standard input and output', LIMIT, async (context) => {
  const product = await startProduct(context, inJson(), { introspect: () => introspection('feedback_ready') });
  const client = new Client({ name: 'tester', version: '1.0' });
  const args = [MAIN, 'agent', 'mcp', '--allow-origin', product.url];
  await client.connect(new StdioClientTransport({ command: process.execPath, args }));
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map(({ name }) => name),
    Object.keys(instructions.agentServer.tools),
  );
  assert.ok(client.getInstructions().includes(instructions.agentServer.untrusted));
  const inspected = await client.callTool({ name: 'inspect_product_feedback', arguments: { url: product.page } });
  const { envelopeId, state, productName, instruction } = inspected.structuredContent;
  assert.deepEqual([state, productName, instruction], ['feedback_ready', 'Shop', instructions.feedback_ready]);
  const review = { envelopeId, outcome: 'success', note: NOTE };
  const sent = await client.callTool({ name: 'submit_product_outcome', arguments: review });
  assert.deepEqual(sent.structuredContent, { accepted: true, interactionId: 'i1' });
  await client.close();
});

test('only envelopes that it has parsed itself', LIMIT, async (context) => {
  const product = await startProduct(context, inJson());
  const call = await clientFor(product.url);
  const { isError, text } = await call('submit_product_outcome', { envelopeId: 'x', outcome: 'success', note: NOTE });
  assert.deepEqual([isError, text], [true, 'there is no such envelopeId; inspect_product_feedback gives one']);
  const { envelopeId } = await call('inspect_product_feedback', { response: inJson()(product.url).body });
  assert.equal((await call('submit_product_report', { envelopeId, report: { summary: NOTE } })).accepted, true);
  assert.equal(
    (await call('submit_product_report', { envelopeId, report: { summary: 'x' }, preview: true })).isError,
    true,
  );
  assert.equal((await call('submit_product_outcome', { envelopeId })).text, 'outcome, note is needed');
});

test('a service that is not allowed is named and gets nothing', LIMIT, async (context) => {
  const product = await startProduct(context, inJson('ask_always'));
  const call = await clientFor();
  const { envelopeId, notAllowed, question } = await call('inspect_product_feedback', { url: product.page });
  assert.match(notAllowed, new RegExp(`--allow-origin ${product.url}`));
  assert.equal(question, undefined);
  assert.equal((await call('decide_product_feedback', { envelopeId, decision: 'approved' })).isError, true);
  assert.deepEqual(product.calls(), []);
});

test('a decision on the question that stands', LIMIT, async (context) => {
  const answers = {
    introspect: () => introspection('consent_required'),
    decisions: () => ({ body: { state: 'feedback_ready', feedback: envelopeOf(product.url) } }),
  };
  const product = await startProduct(context, inJson('ask_always'), answers);
  const call = await clientFor(product.url);
  const { envelopeId, question } = await call('inspect_product_feedback', { url: product.page });
  assert.equal(question, 'May I?');
  const decided = await call('decide_product_feedback', { envelopeId, decision: 'approved' });
  assert.deepEqual([decided.decision, decided.state], ['feedback_ready', 'feedback_ready']);
  const again = await call('decide_product_feedback', { envelopeId, decision: 'declined' });
  assert.match(again.text, /only if the user asks for it/);
});

test(
  'a request for context is answered at the product, with the instructions of the protocol',
  LIMIT,
  async (context) => {
    const bodySchema = {
      status: ['answered', 'declined'],
      items: { maximum: 8, required: ['key', 'type', 'value', 'provenance'], provenance: ['agent_inference'] },
      catalog: CATALOG,
    };
    const submit = { url: '/_service/v1/enrichment/answers', authorization: 'Bearer aqr1_x', bodySchema };
    const action = {
      state: 'answer_ready',
      purpose: 'product_personalization',
      stageInstruction: 'Send me all.',
      submit,
    };
    const product = await startProduct(context, () => ({ body: { _service: { customerContext: action } } }));
    const call = await clientFor();
    const { envelopeId, context: asked } = await call('inspect_product_feedback', { url: product.page });
    assert.equal(asked.instruction, instructions.context.answer_ready.product_personalization.stage);
    assert.deepEqual(asked.catalog, CATALOG);
    const items = [{ key: 'shopping.priority', value: 'price', provenance: 'agent_inference' }];
    assert.equal((await call('answer_customer_context', { envelopeId, items })).accepted, true);
    assert.deepEqual(product.calls()[0].body, { status: 'answered', items: [{ ...items[0], type: 'preference' }] });
  },
);

test('without an envelope it says why', LIMIT, async (context) => {
  const product = await startProduct(context, () => ({ status: 404 }));
  const call = await clientFor();
  const { envelopeId, state, reasons } = await call('inspect_product_feedback', { url: product.page });
  assert.deepEqual([envelopeId, state], [null, 'not_requested']);
  assert.match(reasons[0], /the status is 404/);
  assert.equal((await call('inspect_product_feedback', {})).text, 'either url or response is needed');
  assert.match((await call('steal', {})).text, /there is no tool steal/);
  assert.equal(contract.mcp.tools.length, 5);
});
