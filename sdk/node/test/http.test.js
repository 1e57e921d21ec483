/** The HTTP client, on Node's own client and on `fetch`. */

import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { test } from 'node:test';

import { ServiceUnavailable, ServiceUnreachable } from '../src/errors.js';
import { backoffMs, retryAfterMs } from '../src/http/backoff.js';
import { CircuitBreaker } from '../src/http/circuit_breaker.js';
import { HttpClient } from '../src/http/client.js';
import { DeadlinePassed } from '../src/http/failures.js';
import { send as sendByFetch } from '../src/http/transport_fetch.js';
import { send as sendByNode } from '../src/http/transport_node.js';
import { closedUrl, startService } from './service.js';

const LIMIT = { timeout: 10_000 };

for (const [name, send] of Object.entries({ node: sendByNode, fetch: sendByFetch })) {
  const request = (url, settings = {}) =>
    send({
      url,
      method: 'GET',
      body: null,
      headers: {},
      maxResponseBytes: 100,
      signal: new AbortController().signal,
      ...settings,
    });

  test(`${name}: an answer has status, headers and body`, LIMIT, async (context) => {
    const headers = { Link: ['<a>', '<b>'], 'X-One': '1' };
    const service = await startService(context, () => ({ status: 418, headers, body: 'téa' }));
    const response = await request(`${service.url}/a?b=c`, {
      method: 'PUT',
      body: '{"é":1}',
      headers: { 'x-two': '2' },
    });
    assert.equal(response.status, 418);
    assert.equal(new TextDecoder().decode(response.bytes), 'téa');
    assert.deepEqual([response.headers.link, response.headers['x-one']], ['<a>, <b>', '1']);
    const [asked] = service.requests;
    assert.deepEqual([asked.method, asked.path, asked.text, asked.headers['x-two']], ['PUT', '/a?b=c', '{"é":1}', '2']);
    assert.equal(asked.headers['content-length'], '8');
  });

  test(`${name}: a redirect is not followed`, LIMIT, async (context) => {
    const service = await startService(context, () => ({ status: 302, headers: { Location: '/elsewhere' } }));
    assert.equal((await request(service.url)).status, 302);
    assert.equal(service.requests.length, 1);
  });

  test(`${name}: a longer answer is refused`, LIMIT, async (context) => {
    const service = await startService(context, () => ({ body: 'x'.repeat(101) }));
    await assert.rejects(request(service.url), /longer than 100 bytes/);
  });

  test(`${name}: nothing that listens is told from no answer`, LIMIT, async (context) => {
    const service = await startService(context, () => null);
    await assert.rejects(request(await closedUrl()), ServiceUnreachable);
    await assert.rejects(request('http://nothing.invalid/'), ServiceUnreachable);
    const error = await request(service.url).catch((reason) => reason);
    assert.ok(error instanceof ServiceUnavailable && !(error instanceof ServiceUnreachable), error);
  });

  test(`${name}: an answer that is no HTTP, or is cut short, is none`, LIMIT, async (context) => {
    for (const answer of ['rubbish\r\n\r\n', 'HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort']) {
      const server = createServer((socket) => socket.once('data', () => socket.end(answer)));
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      context.after(() => server.close());
      await assert.rejects(request(`http://127.0.0.1:${server.address().port}/`), ServiceUnavailable);
    }
  });

  test(`${name}: the deadline ends a request before and within its body`, LIMIT, async (context) => {
    for (const answer of ['', 'HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nslow']) {
      const server = createServer((socket) => socket.once('data', () => socket.write(answer)));
      const sockets = [];
      server.on('connection', (socket) => sockets.push(socket));
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      context.after(() => {
        sockets.forEach((socket) => socket.destroy());
        server.close();
      });
      const controller = new AbortController();
      setTimeout(() => controller.abort(new DeadlinePassed()), 100);
      const answered = request(`http://127.0.0.1:${server.address().port}/`, { signal: controller.signal });
      await assert.rejects(answered, { message: 'no usable answer (timeout)' });
    }
  });
}

test('a handshake that does not end in time has sent nothing', LIMIT, async (context) => {
  const sockets = [];
  const server = createServer((socket) => sockets.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    sockets.forEach((socket) => socket.destroy());
    server.close();
  });
  const client = new HttpClient(`https://127.0.0.1:${server.address().port}`);
  await assert.rejects(client.request({ method: 'GET', path: '/', timeoutMs: 100 }), ServiceUnreachable);
});

test('a client has a deadline, and ends with the signal of its caller', LIMIT, async (context) => {
  const service = await startService(context, () => ({ delayMs: 5000 }));
  const client = new HttpClient(service.url);
  const request = { method: 'GET', path: '/', timeoutMs: 30 };
  await assert.rejects(client.request(request), /timeout/);
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error('enough')), 30);
  await assert.rejects(client.request({ ...request, timeoutMs: 5000, signal: controller.signal }), /enough/);
  await assert.rejects(client.request({ ...request, signal: AbortSignal.abort(new Error('before')) }), /before/);
});

test('a header of the caller replaces that of the client, however it is written', LIMIT, async (context) => {
  const service = await startService(context);
  const headers = { 'USER-AGENT': 'an agent', Accept: '*/*' };
  await new HttpClient(service.url).request({ method: 'GET', path: '/', timeoutMs: 1000, headers });
  const [asked] = service.requests;
  assert.deepEqual([asked.headers['user-agent'], asked.headers.accept], ['an agent', '*/*']);
});

test('the backoff doubles within its bounds', () => {
  const bounds = { firstMs: 200, maxMs: 5000, jitter: [1, 1] };
  assert.deepEqual(
    [0, 1, 2, 3, 6, 1000].map((failures) => backoffMs(failures, bounds)),
    [200, 200, 400, 800, 5000, 5000],
  );
  const jittered = backoffMs(1, { ...bounds, jitter: [0.5, 1] });
  assert.ok(jittered >= 100 && jittered <= 200);
});

test('Retry-After is read as seconds or as a date', () => {
  const inAMinute = new Date(Date.now() + 60_000).toUTCString();
  assert.ok(Math.abs(retryAfterMs(inAMinute) - 60_000) < 2000);
  const texts = [
    '2',
    ' 3 ',
    '0',
    '-1',
    '1.5',
    'soon',
    '',
    null,
    '99999',
    'Thu, 01 Jan 1970 00:00:00 GMT',
    'Thu, rubbish',
  ];
  assert.deepEqual(texts.map(retryAfterMs), [2000, 3000, 0, 0, 0, 0, 0, 0, 600_000, 0, 0]);
});

test('an open circuit lets one caller try when its time is up', (context) => {
  let now = 0;
  context.mock.method(performance, 'now', () => now);
  const breaker = new CircuitBreaker(1000);
  assert.equal(breaker.isOpen(), false);
  breaker.open();
  assert.equal(breaker.isOpen(), true);
  now = 1000;
  assert.deepEqual([breaker.isOpen(), breaker.isOpen()], [false, true]);
  breaker.close();
  assert.equal(breaker.isOpen(), false);
  breaker.open(5000);
  now = 5999;
  assert.equal(breaker.isOpen(), true);
});
