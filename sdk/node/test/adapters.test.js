import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { AgentFeedback } from '../src/index.js';
import { ANSWERS, LARGE_INTEGER, PAGE, PRODUCTS } from './products.js';
import { COMPANY_KEY, KEY, startService } from './recording_service.js';

const ENVELOPE = /,"_agentFeedback":(\{.*\})\}\n$/s;
const ELEMENT = /<script id="agent-feedback" type="application\/json">(.*)<\/script><\/head>/;

for (const [name, startProduct] of Object.entries(PRODUCTS)) {
  describe(`the adapter for ${name}`, () => {
    let service;
    const cleanups = [];

    /** Start the product with these options and return a function that fetches from it. */
    async function start(options, callback) {
      const feedback = new AgentFeedback({ apiKey: KEY, endpoint: service.url, flushInterval: 10, ...options });
      const product = await startProduct(feedback, callback && ((request) => callback(feedback, request)));
      cleanups.push(product.close, () => feedback.shutdown());
      const get = async (path, init) => {
        const response = await fetch(product.url + path, init);
        return { response, text: await response.text() };
      };
      return { feedback, get, url: product.url };
    }

    before(async () => {
      service = await startService();
    });
    afterEach(async () => {
      for (const cleanup of cleanups.splice(0)) {
        await cleanup();
      }
      service.requests.length = 0;
    });
    after(() => service.close());

    it('splices the envelope into a JSON object, and leaves every other byte', async () => {
      const { get, feedback } = await start({ customerRef: () => 'account_42' });
      const { response, text } = await get('/object/1?a=b');
      const [, json] = ENVELOPE.exec(text);
      assert.equal(text.replace(`,"_agentFeedback":${json}`, ''), LARGE_INTEGER);
      assert.equal(JSON.parse(json).state, 'feedback_ready');
      assert.equal(response.headers.get('content-length'), String(Buffer.byteLength(text)));
      assert.equal(response.headers.get('cache-control'), 'private, no-store');
      assert.equal(response.headers.get('etag'), null);
      assert.match(response.headers.get('link'), /agent-feedback-v1\.json>; rel="agent-feedback"/);
      assert.equal(await feedback.flush(), true);
      const [event] = service.events();
      const { operation, surface, statusCode, customerRef } = event;
      assert.deepEqual(
        { operation, surface, statusCode, customerRef },
        {
          operation: '/object/:id',
          surface: 'http_json',
          statusCode: 200,
          customerRef: 'account_42',
        },
      );
      assert.ok(event.durationMs > 0);
    });

    it('puts the envelope into the header of an array, whose own headers stay', async () => {
      const { get, feedback } = await start();
      const { response, text } = await get('/array');
      assert.equal(text, ANSWERS['/array'].body);
      assert.equal(response.headers.get('etag'), '"a"');
      assert.equal(response.headers.get('cache-control'), 'private, no-store');
      const envelope = JSON.parse(Buffer.from(response.headers.get('agent-feedback'), 'base64url').toString());
      assert.equal(envelope.v, 1);
      await feedback.flush();
      assert.equal(service.events()[0].surface, 'http_headers');
    });

    it('inserts the element into a page', async () => {
      const { get, feedback } = await start({ mode: 'ask_always' });
      const { text } = await get('/page');
      const [element, json] = ELEMENT.exec(text);
      assert.equal(text.replace(element, '</head>'), PAGE);
      assert.equal(JSON.parse(json).state, 'consent_required');
      await feedback.flush();
      assert.equal(service.events()[0].surface, 'http_html');
    });

    for (const path of ['/taken', '/invalid', '/text', '/shared', '/missing', '/health']) {
      it(`leaves ${path} as the product made it`, async () => {
        const { get, feedback } = await start();
        const { response, text } = await get(path);
        const { status = 200, headers, body } = ANSWERS[path];
        assert.deepEqual([response.status, text], [status, body]);
        assert.equal(response.headers.get('cache-control'), headers['Cache-Control'] ?? null);
        assert.equal(response.headers.get('link'), null);
        await feedback.flush();
        assert.deepEqual(service.events(), []);
      });
    }

    it('leaves the answer alone where a callback fails, and where the company does not want an envelope', async () => {
      const fail = () => {
        throw new Error('no');
      };
      for (const options of [
        { customerRef: fail },
        { shouldInstrument: fail },
        { shouldInstrument: () => false },
        { mode: 'off' },
      ]) {
        const { get } = await start(options);
        const { text, response } = await get('/object/1');
        assert.equal(text, LARGE_INTEGER);
        assert.equal(response.headers.get('etag'), '"a"');
      }
    });

    it('waits for an agent in the cache mode request', async () => {
      const { get } = await start({ cacheMode: 'request' });
      const { response, text } = await get('/object/1?a=b');
      assert.equal(text, LARGE_INTEGER);
      assert.equal(response.headers.get('vary'), 'Agent-Feedback-Request');
      assert.equal(
        response.headers.get('link'),
        '</object/1?a=b>; rel="agent-feedback"; request-header="Agent-Feedback-Request: 1"',
      );
      assert.equal(response.headers.get('etag'), '"a"');
      const requested = await get('/object/1', { headers: { 'Agent-Feedback-Request': '1' } });
      assert.match(requested.text, ENVELOPE);
      assert.equal(requested.response.headers.get('vary'), 'Agent-Feedback-Request');
      const head = await get('/object/1', { method: 'HEAD' });
      assert.match(head.response.headers.get('link'), /request-header/);
      const unwanted = await start({ cacheMode: 'request', shouldInstrument: () => false });
      assert.equal((await unwanted.get('/object/1')).response.headers.get('link'), null);
    });

    it('names the operation and the agent by the request', async () => {
      const operation = (request) => `op-${(request.headers.get?.('x-op') ?? request.headers['x-op']) || ''}`;
      const { get, feedback } = await start({ operation, runtimeHint: 'user-agent' });
      await get('/object/1', { headers: { 'X-Op': 'list', 'User-Agent': 'ClaudeBot/1.0 (+https://x.example)' } });
      await feedback.flush();
      const [event] = service.events();
      assert.deepEqual(
        [event.operation, event.runtimeHint, event.runtimeHintSource],
        ['op-list', 'ClaudeBot/1.0', 'http'],
      );
    });

    it('asks for customer context that the product requests, and leads the agent to the relay', async () => {
      service.answer = ({ path }) =>
        path === '/api/v2/enrichment/requests'
          ? { status: 200, body: { submit: { url: `${service.url}/api/v2/enrichment/answers`, method: 'POST' } } }
          : { status: 202, body: {} };
      const { get, url } = await start(
        { companyKey: COMPANY_KEY, contextTimeout: 5000 },
        ({ customerContext }, request) => customerContext.ask(request, { purpose: 'product_personalization' }),
      );
      const { response, text } = await get('/object/1', { headers: { 'User-Agent': 'agent/1', 'Sec-GPC': '0' } });
      const { customerContext } = JSON.parse(text)._service;
      assert.equal(customerContext.submit.url, '/_service/v1/enrichment/answers');
      assert.match(text, /,"_agentFeedback":\{/);
      const request = service.requests.find(({ path }) => path.endsWith('/requests')).body;
      const { clientIp, method, userAgent } = request.requestObservation;
      assert.deepEqual([clientIp, method, userAgent], ['127.0.0.1', 'GET', 'agent/1']);
      assert.equal(request.statusCode, 200);
      const interaction = response.headers.get('service-context-interaction');
      assert.equal(request.interactionId, interaction);
      const retry = await get('/page', { headers: { 'Service-Context-Interaction': interaction } });
      assert.notEqual(retry.response.headers.get('service-context-interaction'), interaction);
      const answer = await fetch(`${url}/_service/v1/enrichment/answers`, { method: 'POST', body: '{}' });
      assert.equal(answer.status, 401);
      assert.equal(answer.headers.get('www-authenticate'), 'Bearer');
      const handle = `aqr1_${'a'.repeat(32)}`;
      service.answer = () => ({ status: 200, body: { accepted: true } });
      const headers = { Authorization: `Bearer ${handle}` };
      const body = JSON.stringify({ status: 'declined' });
      const accepted = await fetch(`${url}/_service/v1/enrichment/answers`, { method: 'POST', headers, body });
      assert.deepEqual([accepted.status, await accepted.json()], [200, { accepted: true }]);
      assert.deepEqual(service.lastTo('/api/v2/enrichment/answers').headers.authorization, `Bearer ${handle}`);
    });

    it('keeps the retry of a context request from caches, whatever its answer is', async () => {
      service.answer = () => ({ status: 200, body: { submit: { url: '/api/v2/enrichment/answers' } } });
      const { get } = await start(
        { companyKey: COMPANY_KEY, contextTimeout: 5000, mode: 'off' },
        ({ customerContext }, request) => customerContext.ask(request, { purpose: 'product_personalization' }),
      );
      const { response } = await get('/object/1');
      const headers = { 'Service-Context-Interaction': response.headers.get('service-context-interaction') };
      const retry = await get('/object/1', { headers });
      assert.equal(retry.response.headers.get('service-context-interaction'), null);
      assert.equal(retry.text, LARGE_INTEGER);
      assert.equal(retry.response.headers.get('cache-control'), 'private, no-store');
    });

    it('adds nothing with the kill switch', async () => {
      process.env.AGENT_FEEDBACK_ENABLED = 'false';
      try {
        const { get, feedback } = await start();
        assert.equal((await get('/object/1')).text, LARGE_INTEGER);
        assert.equal(feedback.start('a').envelope(), null);
      } finally {
        delete process.env.AGENT_FEEDBACK_ENABLED;
      }
    });
  });
}

describe('the adapter for fetch', () => {
  let feedback;

  before(() => {
    feedback = new AgentFeedback({
      apiKey: KEY,
      endpoint: 'http://127.0.0.1:1',
      maxAttempts: 1,
      flushInterval: 60_000,
    });
  });
  after(() => feedback.shutdown({ timeout: 1 }));

  const headers = { 'Content-Type': 'application/json' };
  const request = new Request('https://shop.example/orders/1');

  /** Return a stream that waits before each chunk. */
  function streamOf(...chunks) {
    return new ReadableStream({
      async pull(controller) {
        await new Promise((resolve) => setImmediate(resolve));
        const chunk = chunks.shift();
        return chunk === undefined ? controller.close() : controller.enqueue(Buffer.from(chunk));
      },
    });
  }

  it('takes every kind of body that is complete', async () => {
    const form = (body) => feedback.fetch(() => new Response(body, { headers }))(request);
    for (const body of ['{"a":1}', Buffer.from('{"a":1}'), new TextEncoder().encode('{"a":1}').buffer]) {
      assert.equal((await (await form(body)).json())._agentFeedback.v, 1);
    }
    const response = await feedback.fetch(() => Response.json({ a: 1 }, { status: 201, statusText: 'Made' }))(request);
    assert.deepEqual([response.status, response.statusText], [201, 'Made']);
  });

  it('passes a stream on without waiting for it, and cancels it with its reader', async () => {
    let isCancelled = false;
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(Buffer.from('{')),
      cancel: () => void (isCancelled = true),
    });
    const response = await feedback.fetch(() => new Response(body, { headers }))(request);
    const reader = response.body.getReader();
    assert.equal(Buffer.from((await reader.read()).value).toString(), '{');
    await reader.cancel();
    assert.equal(isCancelled, true);
  });

  it('reads a stream of a declared length, and leaves one chunk without it', async () => {
    const declared = { ...headers, 'Content-Length': '7' };
    const form = (headers) => feedback.fetch(() => new Response(streamOf('{"a":', '1}'), { headers }))(request);
    assert.match(await (await form(declared)).text(), /_agentFeedback/);
    assert.equal(await (await form(headers)).text(), '{"a":1}');
    const response = await feedback.fetch(() => new Response(streamOf('{"a":1}'), { headers }))(request);
    assert.equal(await response.text(), '{"a":1}');
  });

  it('leaves a body above the limit as it is', async () => {
    const text = JSON.stringify('a'.repeat(feedback.options.maxBodyBytes));
    const response = await feedback.fetch(() => new Response(text, { headers }))(request);
    assert.equal(await response.text(), text);
  });

  it('keeps cookies apart, and passes the parameters of the platform', async () => {
    const waiting = [];
    const context = { waitUntil: (promise) => waiting.push(promise) };
    const handler = feedback.fetch((_, env) => {
      const response = Response.json({ name: env.name });
      response.headers.append('Set-Cookie', 'a=1');
      response.headers.append('Set-Cookie', 'b=2');
      return response;
    });
    const response = await handler(request, { name: 'shop' }, context);
    assert.equal((await response.json()).name, 'shop');
    assert.deepEqual(response.headers.getSetCookie(), ['a=1', 'b=2']);
    assert.equal(waiting.length, 1);
    await waiting[0];
  });

  it('leaves it to the handler and the platform what to do with a request or a response that is none', async () => {
    const handler = feedback.fetch(({ url }) => (url ? Response.json({ url }) : undefined));
    assert.deepEqual(await (await handler({ url: '/relative', method: 'GET', headers: new Headers() })).json(), {
      url: '/relative',
    });
    assert.equal(await feedback.fetch(() => undefined)(request), undefined);
  });

  it('fails where the handler fails', async () => {
    const handler = feedback.fetch(() => Promise.reject(new RangeError('no')));
    await assert.rejects(handler(request), RangeError);
  });
});
