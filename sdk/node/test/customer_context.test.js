/** The client of customer context: what it sends, and how it fails. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ContextActions } from '../src/context/actions.js';
import { CustomerContext } from '../src/context/index.js';
import { CompanyKey } from '../src/keys.js';
import { COMPANY_KEY } from './keys_of_tests.js';
import { closedUrl, startService } from './service.js';

const LIMIT = { timeout: 10_000 };
const PURPOSE = 'product_personalization';
const ADVERTISING = 'targeted_advertising';
const ITEM = {
  signalId: 'sig1',
  key: 'shopping.priority',
  type: 'preference',
  value: 'price',
  summary: 'What matters most: price',
  provenance: 'agent_reports_user_statement',
  confidence: null,
  allowedUses: [PURPOSE],
  remembered: true,
  expiresAt: '2030-01-01T00:00:00Z',
};
const CONTEXT = {
  retrievalId: 'r1',
  identityLevel: 'verified',
  contextVersion: 'ctx1_a',
  interactionId: null,
  items: [ITEM],
};
const ACTION = {
  state: 'answer_ready',
  submit: { url: 'https://feedback.example.com/api/v2/enrichment/answers', authorization: 'Bearer aqr1_x' },
  consent: null,
};

function clientFor(endpoint, timeout = 2000) {
  return new CustomerContext({ companyKey: COMPANY_KEY, endpoint, timeout });
}

function silence(context) {
  const { mock } = context.mock.method(console, 'warn', () => {});
  return () => mock.calls.map(({ arguments: [text] }) => text);
}

/** Return a request that an adapter has prepared, and what it needs of the adapter. */
function requestOf(client, { method = 'GET', path = '/shoes', mount = '', ...headers } = {}) {
  const request = { headers };
  const actions = new ContextActions(new CompanyKey(COMPANY_KEY), client);
  const header = (name) => headers[name.toLowerCase()] ?? null;
  const slot = actions.addSlot([request], { method, path, mount, header });
  return { request, actions, slot };
}

test('the context of a customer', LIMIT, async (context) => {
  const service = await startService(context, () => ({ body: CONTEXT }));
  const known = await clientFor(service.url).context({ purpose: PURPOSE, userRef: 'user_42', accountRef: undefined });
  assert.deepEqual([known.isEmpty, known.value('shopping.priority'), known.value('other')], [false, 'price', null]);
  assert.deepEqual([known.retrievalId, known.signalIds, known.items], ['r1', ['sig1'], [ITEM]]);
  const [{ method, path, body, headers }] = service.requests;
  assert.deepEqual(
    [method, path, body],
    ['POST', '/api/v2/customer-context', { purpose: PURPOSE, userRef: 'user_42' }],
  );
  assert.equal(headers.authorization, `Bearer ${COMPANY_KEY}`);
});

test('a signal that was only inferred has no value', LIMIT, async (context) => {
  const service = await startService(context, () => ({ body: { ...CONTEXT, items: [{ ...ITEM, allowedUses: [] }] } }));
  const known = await clientFor(service.url).context({ purpose: PURPOSE, userRef: 'user_42' });
  assert.equal(known.value('shopping.priority'), null);
});

test('without a reference and an interaction nothing is known, without a call', LIMIT, async (context) => {
  const service = await startService(context);
  assert.equal((await clientFor(service.url).context({ purpose: PURPOSE, userRef: '' })).isEmpty, true);
  assert.deepEqual(service.requests, []);
});

test('decisions and outcomes', LIMIT, async (context) => {
  const service = await startService(context, ({ path }) => ({
    body: path.endsWith('/decisions') ? { decision: { id: 'd1' } } : { outcome: { id: 'o1' } },
  }));
  const client = clientFor(service.url);
  const decision = { externalDecisionId: 'e1', contextRetrievalId: 'r1', signalIds: ['sig1'], variant: 'a' };
  assert.deepEqual(await client.recordDecision(decision), { id: 'd1' });
  const outcome = { externalOutcomeId: 'e2', decisionId: 'd1', outcome: 'conversion' };
  assert.deepEqual(await client.recordOutcome(outcome), { id: 'o1' });
  assert.deepEqual(
    service.requests.map(({ path, body }) => [path, body]),
    [
      ['/api/v2/personalization/decisions', decision],
      ['/api/v2/personalization/outcomes', outcome],
    ],
  );
  assert.equal(await client.recordDecision({ ...decision, contextRetrievalId: null }), null);
  assert.equal(await client.recordOutcome({ ...outcome, decisionId: undefined }), null);
  assert.equal(service.requests.length, 2);
});

test('fields', LIMIT, async (context) => {
  const service = await startService(context, ({ method }) => ({ body: { method } }));
  const { fields } = clientFor(service.url);
  const definition = { label: 'The size', type: 'fit', allowedValues: ['s', 'l'] };
  assert.deepEqual(await fields.put('shop.size/x', definition), { method: 'PUT' });
  assert.deepEqual(await fields.list(), { method: 'GET' });
  assert.deepEqual(await fields.delete('shop.size'), { method: 'DELETE' });
  assert.deepEqual(
    service.requests.map(({ path, body }) => [path, body]),
    [
      ['/api/v2/enrichment/fields/shop.size%2Fx', definition],
      ['/api/v2/enrichment/fields', null],
      ['/api/v2/enrichment/fields/shop.size', null],
    ],
  );
});

test(
  'an answer that lacks what is needed is a failure, after which the service is left alone',
  LIMIT,
  async (context) => {
    const service = await startService(context, () => ({ body: { retrievalId: 'r1' } }));
    silence(context);
    const client = clientFor(service.url);
    for (let number = 0; number < 2; number += 1) {
      assert.equal((await client.context({ purpose: PURPOSE, userRef: 'user_42' })).isEmpty, true);
    }
    assert.equal(service.requests.length, 1);
  },
);

test('a call fails open with one warning, and then the service is left alone', LIMIT, async (context) => {
  const warnings = silence(context);
  const service = await startService(context, () => ({ status: 500 }));
  const client = clientFor(service.url);
  for (let call = 0; call < 3; call += 1) {
    assert.equal((await client.context({ purpose: PURPOSE, userRef: 'user_42' })).isEmpty, true);
    assert.equal(await client.fields.list(), null);
  }
  assert.equal(service.requests.length, 1);
  assert.equal(warnings().length, 1);
  assert.match(warnings()[0], /customer context is not available/);
});

test('a refusal is no outage, and is warned of by its code', LIMIT, async (context) => {
  const warnings = silence(context);
  const service = await startService(context, () => ({ status: 422, body: { code: 'range', error: 'No.' } }));
  const client = clientFor(service.url);
  await client.fields.delete('a.b');
  await client.fields.delete('secret.key');
  assert.equal(service.requests.length, 2);
  assert.equal(warnings().length, 1);
  assert.match(warnings()[0], /enrichment\/fields 422 range/);
  assert.doesNotMatch(warnings()[0], /a\.b/);
});

for (const status of [401, 408, 429]) {
  test(`a ${status} stops the calls for a while`, LIMIT, async (context) => {
    silence(context);
    const service = await startService(context, () => ({ status, body: {} }));
    const client = clientFor(service.url);
    await client.fields.list();
    await client.fields.list();
    assert.equal(service.requests.length, 1);
  });
}

test('a call that wants its errors gets the real one', LIMIT, async (context) => {
  const service = await startService(context, () => ({ status: 422, body: { code: 'range' } }));
  const raiseErrors = true;
  const refused = clientFor(service.url).fields.list({ raiseErrors });
  await assert.rejects(refused, { name: 'ServiceRefused', status: 422, code: 'range' });
  const away = clientFor(await closedUrl()).fields.list({ raiseErrors });
  await assert.rejects(away, { name: 'ServiceUnreachable' });
});

test('a slow service costs no more than the time-out, and a signal ends a call', LIMIT, async (context) => {
  silence(context);
  const service = await startService(context, () => ({ delayMs: 3000 }));
  const startedAt = performance.now();
  assert.equal(await clientFor(service.url, 50).fields.list(), null);
  assert.equal(await clientFor(service.url).fields.list({ timeout: 50 }), null);
  const call = clientFor(service.url).fields.list({ signal: AbortSignal.timeout(50), raiseErrors: true });
  await assert.rejects(call, { name: 'TimeoutError' });
  assert.ok(performance.now() - startedAt < 2000);
});

for (const [name, body] of Object.entries({
  'no JSON': '<p>',
  'a list': [],
  'an answer without items': { retrievalId: 'x' },
})) {
  test(`an answer that cannot be used is none: ${name}`, LIMIT, async (context) => {
    silence(context);
    const service = await startService(context, () => ({ body }));
    const known = await clientFor(service.url).context({ purpose: PURPOSE, userRef: 'user_42' });
    assert.equal(known.isEmpty, true);
  });
}

test('what the code of a product requests becomes an action on its own origin', LIMIT, async (context) => {
  const service = await startService(context, () => ({ body: ACTION }));
  const client = clientFor(service.url);
  const { request, actions, slot } = requestOf(client, { mount: '/shop' });
  client.ask(request, { purpose: PURPOSE, userRef: 'user_42', remember: true, fieldKeys: ['shopping.priority'] });
  const pending = actions.findPending(slot, '/shoes');
  assert.deepEqual(pending.headers, []);
  const response = { surface: 'http_json', statusCode: 200, durationMs: 1.5, references: { sessionRef: 's1' } };
  const member = await actions.build(pending, { ...response, observation: { method: 'GET' } });
  assert.equal(member.customerContext.submit.url, '/shop/_service/v1/enrichment/answers');
  const [{ path, body }] = service.requests;
  assert.equal(path, '/api/v2/enrichment/requests');
  assert.deepEqual(body, {
    remember: true,
    purpose: PURPOSE,
    userRef: 'user_42',
    fieldKeys: ['shopping.priority'],
    operation: '/shoes',
    interactionId: pending.interactionId,
    surface: 'http_json',
    statusCode: 200,
    durationMs: 1.5,
    sessionRef: 's1',
    requestObservation: { method: 'GET' },
  });
});

test('an answer without an action is none', LIMIT, async (context) => {
  const service = await startService(context, () => ({
    body: { state: 'no_relevant_context', submit: null, consent: null },
  }));
  const client = clientFor(service.url);
  const { request, actions, slot } = requestOf(client);
  client.ask(request, { purpose: PURPOSE, userRef: 'user_42' });
  const response = { surface: 'http_json', statusCode: 200, durationMs: 1, references: {}, observation: {} };
  assert.equal(await actions.build(actions.findPending(slot, '/shoes'), response), null);
});

test('the retry of the same operation is recognised, and not asked again', () => {
  const client = clientFor('http://127.0.0.1:9');
  const first = requestOf(client);
  client.ask(first.request, { purpose: PURPOSE });
  const { interactionId, headers } = first.actions.findPending(first.slot, '/shoes');
  assert.deepEqual(headers, [['Service-Context-Interaction', interactionId]]);
  assert.equal(client.interaction(first.request), null);

  const retry = requestOf(client, { 'service-context-interaction': interactionId.toUpperCase() });
  assert.equal(client.interaction(retry.request), interactionId);
  assert.equal(retry.slot.isRetry, true);
  client.ask(retry.request, { purpose: PURPOSE });
  assert.equal(retry.actions.findPending(retry.slot, '/shoes'), null);
  client.ask(retry.request, { purpose: PURPOSE, userRef: 'user_42' });
  assert.notEqual(retry.actions.findPending(retry.slot, '/shoes'), null);

  const other = requestOf(client, { path: '/hats', 'service-context-interaction': interactionId });
  assert.deepEqual([client.interaction(other.request), other.slot.isRetry], [null, false]);
});

test('the retried interaction is that of a context for its request', LIMIT, async (context) => {
  const service = await startService(context, () => ({ body: CONTEXT }));
  const client = clientFor(service.url);
  const first = requestOf(client);
  client.ask(first.request, { purpose: PURPOSE });
  const { interactionId } = first.actions.findPending(first.slot, '/shoes');
  const { request } = requestOf(client, { 'service-context-interaction': interactionId });
  await client.context({ purpose: PURPOSE, request });
  assert.deepEqual(service.requests[0].body, { purpose: PURPOSE, interactionId });
});

test('a privacy signal forbids advertising, and nothing else', LIMIT, async (context) => {
  const service = await startService(context, () => ({ body: CONTEXT }));
  const client = clientFor(service.url);
  const { request, actions, slot } = requestOf(client, { 'sec-gpc': '1' });
  client.ask(request, { purpose: ADVERTISING, userRef: 'user_42' });
  assert.equal(actions.findPending(slot, '/shoes'), null);
  assert.equal((await client.context({ purpose: ADVERTISING, userRef: 'user_42', request })).isEmpty, true);
  const raw = { headers: new Headers({ 'Sec-GPC': '1' }) };
  assert.equal((await client.context({ purpose: ADVERTISING, userRef: 'user_42', request: raw })).isEmpty, true);
  assert.deepEqual(service.requests, []);
  client.ask(request, { purpose: PURPOSE, userRef: 'user_42' });
  assert.notEqual(actions.findPending(slot, '/shoes'), null);
  assert.equal((await client.context({ purpose: PURPOSE, userRef: 'user_42', request })).isEmpty, false);
});

test('a request that no adapter has seen is left alone', () => {
  const client = clientFor('http://127.0.0.1:9');
  client.ask({}, { purpose: PURPOSE });
  assert.equal(client.interaction({}), null);
});

test('a client needs a company key', () => {
  assert.throws(() => new CustomerContext({ endpoint: 'http://127.0.0.1:9' }), { name: 'InvalidOption' });
});
