/** The relay between an agent and a service: what is forwarded, and what it answers itself. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request as send } from 'node:http';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';

import { Relay } from '../src/relay.js';
import { closedUrl, startService } from './service.js';

const LIMIT = { timeout: 10_000 };
const HANDLE = 'aqr1_0123456789abcdef0123456789abcdef';
const ANSWERS = '/_service/v1/enrichment/answers';
const CONSENT = '/_service/v1/enrichment/consent';
const ANSWER = { status: 'no_relevant_context', items: [] };

/** Serve a relay as an adapter does, and return a function that asks it. */
async function startRelay(context, endpoint, mount = '') {
  context.mock.method(console, 'warn', () => {});
  const relay = new Relay({ endpoint, relayTimeout: 500 });
  const server = createServer(async (request, response) => {
    const { method, url: path, headers } = request;
    assert.ok(relay.serves(path));
    const answer = await relay.answer({
      method,
      path,
      mount,
      header: (name) => headers[name.toLowerCase()],
      body: request,
    });
    response.writeHead(answer.status, answer.headers.flat());
    response.end(answer.body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address();
  return async (
    path,
    { body = JSON.stringify(ANSWER), method = 'POST', authorization = `Bearer ${HANDLE}`, headers = {} } = {},
  ) => {
    const outgoing = send({
      port,
      host: '127.0.0.1',
      path,
      method,
      headers: { ...(authorization && { authorization }), ...headers },
    });
    outgoing.end(body);
    const [response] = await once(outgoing, 'response');
    const content = await text(response);
    return { status: response.statusCode, headers: response.headers, body: content && JSON.parse(content) };
  };
}

test('only the handle and the body are forwarded, and URLs come back on the own origin', LIMIT, async (context) => {
  const submit = { url: 'https://feedback.example.com/api/v2/enrichment/answers' };
  const service = await startService(context, () => ({ body: { state: 'answer_ready', submit } }));
  const ask = await startRelay(context, service.url, '/shop');
  const headers = { Cookie: 'secret', 'X-Forwarded-For': '192.0.2.1' };
  const answer = await ask(CONSENT, { body: '{"decision": "approved"}', headers });
  assert.equal(answer.status, 200);
  assert.equal(answer.body.submit.url, `/shop${ANSWERS}`);
  assert.equal(answer.headers['cache-control'], 'private, no-store');
  const [request] = service.requests;
  assert.deepEqual([request.path, request.body], ['/api/v2/enrichment/consent/decisions', { decision: 'approved' }]);
  assert.equal(request.headers.authorization, `Bearer ${HANDLE}`);
  assert.deepEqual([request.headers.cookie, request.headers['x-forwarded-for']], [undefined, undefined]);
});

const REFUSALS = {
  'another method': [ANSWERS, { method: 'GET', body: '' }, 404, 'not_found'],
  'another path': ['/_service/v1/enrichment/other', {}, 404, 'not_found'],
  'the prefix': ['/_service/v1', {}, 404, 'not_found'],
  'no handle': [ANSWERS, { authorization: '' }, 401, 'invalid_customer_context_handle'],
  'a capability': [ANSWERS, { authorization: 'Bearer afr2_0123456789abcdef' }, 401, 'invalid_customer_context_handle'],
  'another scheme': [ANSWERS, { authorization: `Basic ${HANDLE}` }, 401, 'invalid_customer_context_handle'],
  'no body': [ANSWERS, { body: '' }, 400, 'invalid_customer_context_body'],
  'an unknown member': [ANSWERS, { body: '{"prompt": "x"}' }, 400, 'invalid_customer_context_body'],
  'a number out of range': [CONSENT, { body: '{"remember": 1e999}' }, 400, 'invalid_customer_context_body'],
  'a byte order mark': [ANSWERS, { body: `\ufeff${JSON.stringify(ANSWER)}` }, 400, 'invalid_customer_context_body'],
  'no UTF-8': [CONSENT, { body: Buffer.from('{"decision": "\xff"}', 'latin1') }, 400, 'invalid_customer_context_body'],
  'a large body': [ANSWERS, { body: ' '.repeat(65_537) }, 413, 'invalid_customer_context_body'],
};

for (const [name, [path, request, status, code]] of Object.entries(REFUSALS)) {
  test(`refused: ${name}`, LIMIT, async (context) => {
    const service = await startService(context);
    const ask = await startRelay(context, service.url);
    const answer = await ask(path, request);
    assert.deepEqual([answer.status, answer.body.code], [status, code]);
    assert.equal(typeof answer.body.error, 'string');
    assert.equal(answer.headers['www-authenticate'], status === 401 ? 'Bearer' : undefined);
    assert.equal(answer.headers['cache-control'], 'private, no-store');
    assert.deepEqual(service.requests, []);
  });
}

test('a large body without a length is refused, and the connection lives on', LIMIT, async (context) => {
  const service = await startService(context);
  const ask = await startRelay(context, service.url);
  const headers = { 'Transfer-Encoding': 'chunked' };
  assert.equal((await ask(ANSWERS, { body: ' '.repeat(200_000), headers })).status, 413);
  assert.equal((await ask(ANSWERS)).status, 200);
});

test('the scheme is read in any case, and HEAD has no body', LIMIT, async (context) => {
  const service = await startService(context);
  const ask = await startRelay(context, service.url);
  assert.equal((await ask(ANSWERS, { authorization: `bEARER  ${HANDLE}` })).status, 200);
  const head = await ask(ANSWERS, { method: 'HEAD', body: '' });
  assert.deepEqual([head.status, head.body], [404, '']);
});

test('a refusal of the service is passed on', LIMIT, async (context) => {
  const answer = { status: 429, headers: { 'Retry-After': '7' }, body: { code: 'rate_limited' } };
  const service = await startService(context, () => answer);
  const { status, headers, body } = await (await startRelay(context, service.url))(ANSWERS);
  assert.deepEqual([status, headers['retry-after'], body], [429, '7', { code: 'rate_limited' }]);
});

test('a redirect of the service is no answer', LIMIT, async (context) => {
  const service = await startService(context, () => ({ status: 307, headers: { Location: '/elsewhere' } }));
  const { status, body } = await (await startRelay(context, service.url))(ANSWERS);
  assert.deepEqual([status, body.code, service.requests.length], [502, 'service_redirect_rejected', 1]);
});

const OUTAGES = {
  'a 500': () => ({ status: 500 }),
  'no JSON': () => ({ body: '<p>' }),
  'no answer': () => null,
  'a slow answer': () => ({ delayMs: 3000 }),
};

for (const [name, answer] of Object.entries(OUTAGES)) {
  test(`an outage is told as one, and no request waits for a moment: ${name}`, LIMIT, async (context) => {
    const service = await startService(context, answer);
    const ask = await startRelay(context, service.url);
    for (let request = 0; request < 2; request += 1) {
      const { status, headers, body } = await ask(ANSWERS);
      assert.deepEqual([status, body.code, body.retryable], [503, 'service_unavailable', true]);
      assert.equal(headers['retry-after'], '1');
    }
    assert.equal(service.requests.length, 1);
  });
}

test('a service that is away is an outage', LIMIT, async (context) => {
  const ask = await startRelay(context, await closedUrl());
  assert.equal((await ask(ANSWERS)).status, 503);
});

test("what is below the prefix is the relay's", () => {
  const relay = new Relay({ endpoint: 'http://127.0.0.1:9', relayTimeout: 1 });
  const paths = ['/_service/v1', '/_service/v1/', '/_service/v1/x', '/_service/v10', '/shop/_service/v1', '/_service'];
  assert.deepEqual(
    paths.map((path) => relay.serves(path)),
    [true, true, true, false, false, false],
  );
});
