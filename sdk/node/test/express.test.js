import assert from 'node:assert/strict';
import { request } from 'node:http';
import { describe, it } from 'node:test';
import compression from 'compression';
import express from 'express';
import { feedback, serve, service } from './running_sdk.js';

const JSON_TYPE = { 'Content-Type': 'application/json' };

describe('a response of Express', () => {
  /** Start an application with these middlewares before its route, and return its URL. */
  function serveApp(...middlewares) {
    const app = express();
    middlewares.forEach((middleware) => app.use(middleware));
    app.get('/', (_, response) => void response.json({ a: 'a'.repeat(5000) }));
    app.get('/failing', (_, response) => {
      response.writeHead(200, { ...JSON_TYPE, 'Content-Length': 100 });
      response.write('{');
      throw new Error('after the headers');
    });
    app.set('env', 'test');
    return serve(app);
  }

  for (const order of ['before', 'after']) {
    it(`gets the envelope and is compressed, with the middleware ${order} that of compression`, async () => {
      const middlewares = [feedback.express(), compression()];
      const url = await serveApp(...(order === 'before' ? middlewares : middlewares.reverse()));
      const response = await fetch(url, { headers: { 'Accept-Encoding': 'gzip' } });
      assert.equal(response.headers.get('content-encoding'), 'gzip');
      assert.equal((await response.json())._agentFeedback.v, 1);
      assert.equal(response.headers.get('vary'), 'Accept-Encoding');
    });
  }

  it('leaves compressed bytes alone', async () => {
    const url = await serveApp(feedback.express(), (_, response) => {
      response.writeHead(200, { ...JSON_TYPE, 'Content-Encoding': 'br' }).end('{}');
    });
    const answer = await new Promise((resolve) => request(url, { agent: false }, resolve).end());
    assert.equal(answer.headers['content-encoding'], 'br');
    assert.equal(Buffer.concat(await answer.toArray()).toString(), '{}');
  });

  it('is cut where the product fails after its headers', async () => {
    const url = await serveApp(feedback.express());
    await assert.rejects(fetch(`${url}/failing`).then((response) => response.text()));
  });

  it('is asked for once, in its order', async () => {
    const order = [];
    const url = await serveApp(
      (_, __, next) => (order.push('first'), next()),
      feedback.express(),
      (_, __, next) => (order.push('second'), next()),
    );
    await (await fetch(url)).text();
    assert.deepEqual(order, ['first', 'second']);
  });

  it('has the path of the whole application, and the relay below its mount', async () => {
    const app = express();
    const shop = express();
    shop.use(feedback.express());
    shop.get('/orders/1', (request, response) => {
      feedback.customerContext.ask(request, { purpose: 'product_personalization', userRef: 'user_42' });
      response.json({});
    });
    app.use('/shop', shop);
    service.requests.length = 0;
    service.answer = () => ({ status: 200, body: { submit: { url: '/api/v2/enrichment/answers' } } });
    const url = await serve(app);
    const body = await (await fetch(`${url}/shop/orders/1`)).json();
    assert.equal(body._service.customerContext.submit.url, '/shop/_service/v1/enrichment/answers');
    const asked = service.lastTo('/api/v2/enrichment/requests');
    assert.equal(asked.body.operation, '/shop/orders/:id');
    assert.equal((await fetch(`${url}/shop/_service/v1/enrichment/answers`, { method: 'POST' })).status, 401);
  });

  it("serves the relay behind a parser that has read the request's body", async () => {
    service.answer = () => ({ status: 200, body: { accepted: true } });
    const url = await serveApp(express.json(), feedback.express());
    const headers = { ...JSON_TYPE, Authorization: `Bearer aqr1_${'a'.repeat(32)}` };
    const body = '{ "status" : "declined" }';
    const response = await fetch(`${url}/_service/v1/enrichment/answers`, { method: 'POST', headers, body });
    assert.deepEqual(
      [response.status, service.lastTo('/api/v2/enrichment/answers').body],
      [200, { status: 'declined' }],
    );
  });
});
