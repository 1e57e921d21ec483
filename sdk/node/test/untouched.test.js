import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { sendRaw } from './raw.js';
import { GET, serve, serveProduct } from './running_sdk.js';

const JSON_TYPE = { 'Content-Type': 'application/json' };
const SIZE = 8 * 1024 * 1024;

describe('a response that is not eligible', () => {
  const text = '{"a":1}';
  const products = {
    'a stream': (response) => {
      response.writeHead(200, JSON_TYPE);
      response.write('{"a":');
      response.end('1}');
    },
    'a stream without writeHead': (response) => {
      response.setHeader('Content-Type', 'application/json');
      response.write(text);
      response.end();
    },
    'an untrue length': (response) => response.writeHead(200, { ...JSON_TYPE, 'Content-Length': 20 }).end(text),
    'more than was declared': (response) => {
      response.writeHead(200, { ...JSON_TYPE, 'Content-Length': 3 });
      response.write('{"a');
      response.write('":1}');
      response.end();
    },
    trailers: (response) => {
      response.writeHead(200, { ...JSON_TYPE, Trailer: 'X-Sum' });
      response.addTrailers({ 'X-Sum': '1' });
      response.end(text);
    },
    'chunks that the product asked for': (response) => {
      response.writeHead(200, { ...JSON_TYPE, 'Transfer-Encoding': 'chunked' }).end(text);
    },
    'headers that are sent first': (response) => {
      response.writeHead(200, { ...JSON_TYPE, 'Content-Length': 7 });
      response.flushHeaders();
      response.end(text);
    },
    'an error': (response) => response.writeHead(500, 'Broken', JSON_TYPE).end(text),
    'a redirect': (response) => response.writeHead(302, { Location: '/a' }).end(),
    nothing: (response) => response.writeHead(204).end(),
    'an error after the headers': (response) => {
      response.writeHead(200, JSON_TYPE);
      response.write('{"a":');
      setImmediate(() => response.destroy());
    },
    'a chunk of a wrong type': (response) => {
      try {
        response.writeHead(200, JSON_TYPE).end(7);
      } catch (error) {
        response.end(error.code);
      }
    },
    'two starts': (response) => {
      try {
        response.writeHead(200, JSON_TYPE).writeHead(201);
      } catch (error) {
        response.end(error.code);
      }
    },
    'an invalid status': (response) => {
      try {
        response.writeHead(99);
      } catch (error) {
        response.end(error.code);
      }
    },
    'early hints': (response) => {
      response.writeEarlyHints({ link: '</a.css>; rel=preload' });
      response.writeHead(200, { 'Content-Type': 'text/css' }).end('a');
    },
  };
  for (const [name, product] of Object.entries(products)) {
    it(`leaves as the product made it: ${name}`, async () => {
      const listener = (_, response) => void product(response);
      const plain = await sendRaw(await serve(listener), GET);
      assert.equal(await sendRaw(await serveProduct(listener), GET), plain);
    });
  }

  it('leaves at once where it is a stream of events', async () => {
    const url = await serveProduct((_, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write('data: 1\n\n');
    });
    const reader = (await fetch(url)).body.getReader();
    assert.equal(Buffer.from((await reader.read()).value).toString(), 'data: 1\n\n');
    await reader.cancel();
  });

  it('has its headers flushed when the product says so', async () => {
    const url = await serveProduct((_, response) => {
      response.setHeader('Content-Type', 'application/json');
      response.flushHeaders();
    });
    const controller = new AbortController();
    assert.equal((await fetch(url, { signal: controller.signal })).status, 200);
    controller.abort();
  });

  it('keeps its back-pressure with a slow reader', async () => {
    const chunk = Buffer.alloc(256 * 1024, 'a');
    const signals = { full: 0, drained: 0 };
    const url = await serveProduct(async (_, response) => {
      response.writeHead(200, JSON_TYPE);
      for (let sent = 0; sent < SIZE; sent += chunk.length) {
        if (!response.write(chunk)) {
          signals.full += 1;
          await once(response, 'drain');
          signals.drained += 1;
        }
      }
      response.end();
    });
    let size = 0;
    for await (const part of (await fetch(url)).body) {
      size += part.length;
      if (size % 7 === 0) {
        await setTimeout(1);
      }
    }
    assert.equal(size, SIZE);
    assert.ok(signals.full > 0 && signals.full === signals.drained);
  });
});
