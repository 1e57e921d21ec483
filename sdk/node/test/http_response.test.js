import assert from 'node:assert/strict';
import { once } from 'node:events';
import http2 from 'node:http2';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { sendRaw } from './raw.js';
import { GET, cleanups, feedback, serve, serveProduct, service } from './running_sdk.js';

const JSON_TYPE = { 'Content-Type': 'application/json' };
const ENVELOPE = /"_agentFeedback":\{/;

describe('a response that is held', () => {
  it('gets the envelope, however the product writes it', async () => {
    const text = '{"a":"é"}';
    const bytes = Buffer.from(text);
    const length = { ...JSON_TYPE, 'Content-Length': bytes.length };
    const products = [
      (response) => response.writeHead(200, JSON_TYPE).end(text),
      (response) => response.writeHead(200, 'Fine', JSON_TYPE).end(bytes),
      (response) => response.setHeader('Content-Type', 'application/json').writeHead(200).end(bytes),
      (response) => response.writeHead(200, undefined, JSON_TYPE).end(new Uint8Array(bytes)),
      (response) => response.writeHead(200, ['Content-Type', 'application/json', 'X-A', '1']).end(text, 'utf8'),
      (response) => response.writeHead(200, [['Content-Type', 'application/json']]).end(text),
      (response) => response.setHeader('content-type', 'application/json').end(bytes.toString('latin1'), 'latin1'),
      (response) => response.setHeader('content-type', 'application/json').end(text, () => {}),
      (response) => {
        response.writeHead(200, length);
        bytes.forEach((byte) => response.write(Buffer.from([byte])));
        response.end();
      },
      (response) => Readable.from([bytes.subarray(0, 4), bytes.subarray(4)]).pipe(response.writeHead(200, length)),
    ];
    for (const product of products) {
      const response = await fetch(await serveProduct((_, reply) => void product(reply)));
      const body = await response.json();
      assert.equal(body.a, 'é', String(product));
      assert.equal(body._agentFeedback.v, 1, String(product));
    }
  });

  it('keeps status, reason and headers of every form', async () => {
    const url = await serveProduct((_, response) => {
      response.setHeader('X-Before', 'a');
      response.setHeader('X-Both', 'a');
      response.writeHead(201, 'Made', [
        'Content-Type',
        'application/json',
        'Set-Cookie',
        'a=1',
        'Set-Cookie',
        'b=2',
        'X-Both',
        'b',
      ]);
      response.end('{}');
    });
    const answer = await sendRaw(url, GET);
    assert.match(answer, /^HTTP\/1\.1 201 Made\r\n/);
    assert.match(answer, /X-Before: a\r\n/);
    assert.match(answer, /X-Both: b\r\n/);
    assert.match(answer, /Set-Cookie: a=1\r\nSet-Cookie: b=2\r\n/);
  });

  it('looks sent to the product', async () => {
    const observed = [];
    const url = await serveProduct((_, response) => {
      response.writeHead(200, JSON_TYPE);
      observed.push(response.headersSent);
      for (const name of ['setHeader', 'removeHeader']) {
        assert.throws(() => response[name]('X-A', '1'), { code: 'ERR_HTTP_HEADERS_SENT' });
      }
      response.end('{}');
      observed.push(response.headersSent, response.writableEnded, response.finished);
    });
    assert.match(await (await fetch(url)).text(), ENVELOPE);
    assert.deepEqual(observed, [true, true, true, true]);
  });

  it('calls back before it is complete, so that a product may wait for it', async () => {
    const url = await serveProduct(async (_, response) => {
      response.writeHead(200, { ...JSON_TYPE, 'Content-Length': 7 });
      await new Promise((resolve) => response.write('{"a":', resolve));
      response.end('1}');
    });
    assert.equal((await (await fetch(url)).json())._agentFeedback.v, 1);
  });

  it('takes a copy of what the product writes', async () => {
    const url = await serveProduct((_, response) => {
      const buffer = Buffer.from('{"a":');
      response.writeHead(200, { ...JSON_TYPE, 'Content-Length': 7 });
      response.write(buffer);
      buffer.fill('x');
      response.end('1}');
    });
    assert.equal((await (await fetch(url)).json()).a, 1);
  });

  it('finishes once, and tells the product of it', async () => {
    const events = [];
    const url = await serveProduct((_, response) => {
      response.on('finish', () => events.push('finish'));
      response.writeHead(200, JSON_TYPE).end('{}', () => events.push('callback'));
      response.end();
    });
    await (await fetch(url)).text();
    assert.deepEqual(events.sort(), ['callback', 'finish']);
  });

  it('is recorded with the instant at which its request began', async () => {
    let beganBefore = 0;
    const url = await serveProduct(async (_, response) => {
      beganBefore = Date.now();
      await setTimeout(30);
      response.writeHead(200, JSON_TYPE).end('{}');
    });
    await (await fetch(url)).text();
    await feedback.flush();
    assert.ok(Date.parse(service.events().at(-1).occurredAt) <= beganBefore);
  });

  it('leaves a connection open for the next request, pipelined ones too', async () => {
    const url = await serveProduct(
      (request, response) => void response.writeHead(200, JSON_TYPE).end(`{"url":"${request.url}"}`),
    );
    const keepAlive = (path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
    const answer = await sendRaw(url, keepAlive('/1') + keepAlive('/2') + GET);
    assert.equal(answer.match(/_agentFeedback/g).length, 3);
    assert.deepEqual(answer.match(/"url":"\/[^"]*"/g), ['"url":"/1"', '"url":"/2"', '"url":"/"']);
  });

  it('waits for customer context, and passes on what the product calls meanwhile', async () => {
    service.answer = async () => {
      await setTimeout(50);
      return { status: 200, body: { submit: { url: '/api/v2/enrichment/answers' } } };
    };
    const observed = [];
    const url = await serveProduct((request, response) => {
      feedback.customerContext.ask(request, { purpose: 'product_personalization', userRef: 'user_42' });
      response.on('error', (error) => observed.push(error.code));
      response.writeHead(200, JSON_TYPE).end('{}');
      observed.push(response.headersSent, response.writableEnded);
      response.end();
      response.write('more');
    });
    const body = await (await fetch(url)).json();
    assert.deepEqual(Object.keys(body), ['_agentFeedback', '_service']);
    assert.deepEqual(observed, [true, true, 'ERR_STREAM_WRITE_AFTER_END']);
  });
});

describe('a response over HTTP/2', () => {
  it('gets the envelope, or passes as a stream', async () => {
    const url = await serve(
      feedback.http((request, response) => {
        response.writeHead(200, JSON_TYPE);
        if (request.url === '/stream') {
          response.write('{');
          response.end('}');
        } else {
          response.end('{}');
        }
      }),
      http2.createServer,
    );
    const session = http2.connect(url);
    cleanups.unshift(() => session.close());
    const get = async (path) => {
      const stream = session.request({ ':path': path });
      const [headers] = await once(stream, 'response');
      return { headers, text: Buffer.concat(await stream.toArray()).toString() };
    };
    const { headers, text } = await get('/');
    assert.match(text, ENVELOPE);
    assert.equal(headers['content-length'], String(text.length));
    assert.equal((await get('/stream')).text, '{}');
  });
});
