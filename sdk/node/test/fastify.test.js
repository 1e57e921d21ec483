import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { after, afterEach, before, describe, it } from 'node:test';
import { fastify } from 'fastify';
import { AgentFeedback } from '../src/index.js';
import { sendRaw } from './raw.js';
import { KEY } from './recording_service.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const TEXT = '{"a":1}';

describe('a reply of Fastify', () => {
  let feedback;
  let app;

  /** Start an application with these routes, by path, and return its URL. */
  async function start(routes) {
    app = fastify();
    app.register(feedback.fastify());
    for (const [path, route] of Object.entries(routes)) {
      app.get(path, route);
    }
    return app.listen({ port: 0, host: '127.0.0.1' });
  }

  before(() => {
    feedback = new AgentFeedback({ apiKey: KEY, endpoint: 'http://127.0.0.1:1', maxAttempts: 1, maxBodyBytes: 1000 });
  });
  afterEach(() => app.close());
  after(() => feedback.shutdown({ timeout: 1 }));

  it('gets the envelope, whatever kind of payload it is', async () => {
    const url = await start({
      '/object': async () => ({ a: 1 }),
      '/text': async (_, reply) => reply.headers(JSON_TYPE).send(TEXT),
      '/bytes': async (_, reply) => reply.headers(JSON_TYPE).send(Buffer.from(TEXT)),
      '/declared': async (_, reply) => {
        return reply.headers({ ...JSON_TYPE, 'content-length': 7 }).send(Readable.from([Buffer.from(TEXT)]));
      },
    });
    for (const path of ['/object', '/text', '/bytes', '/declared']) {
      const body = await (await fetch(url + path)).json();
      assert.deepEqual([body.a, body._agentFeedback.v], [1, 1], path);
    }
  });

  it('passes as a stream where it has no length, or too large a one', async () => {
    const long = JSON.stringify('a'.repeat(5000));
    const url = await start({
      '/stream': async (_, reply) => reply.headers(JSON_TYPE).send(Readable.from([Buffer.from(TEXT)])),
      '/long': async (_, reply) => reply.headers(JSON_TYPE).send(long),
    });
    assert.equal(await (await fetch(`${url}/stream`)).text(), TEXT);
    assert.equal(await (await fetch(`${url}/long`)).text(), long);
  });

  it('is as without the plugin where its declared length is not true', async () => {
    const route = async (_, reply) =>
      reply.headers({ ...JSON_TYPE, 'content-length': 900 }).send(Readable.from([Buffer.from(TEXT)]));
    const plain = fastify();
    plain.get('/', route);
    const request = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
    const expected = await sendRaw(await plain.listen({ port: 0, host: '127.0.0.1' }), request);
    await plain.close();
    assert.match(expected, /content-length: 900\r\n/);
    assert.equal(await sendRaw(await start({ '/': route }), request), expected);
  });

  it('loses nothing of a stream that is longer than it may be', async () => {
    const chunks = () => Readable.from(Array.from({ length: 3 }, () => Buffer.from('a'.repeat(600))));
    const url = await start({
      '/': async (_, reply) => reply.headers({ ...JSON_TYPE, 'content-length': 1000 }).send(chunks()),
    });
    const answer = await sendRaw(url, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    assert.equal(answer.match(/a{600,}$/)[0].length, 1800);
  });

  it('has the status of an error where its stream fails', async () => {
    const failing = () =>
      Readable.from(
        (async function* () {
          yield Buffer.from('{');
          throw new Error('no');
        })(),
      );
    const url = await start({
      '/failing': async (_, reply) => reply.headers({ ...JSON_TYPE, 'content-length': 7 }).send(failing()),
    });
    assert.equal((await fetch(`${url}/failing`)).status, 500);
  });

  it('goes through the hooks of plugins that are registered later', async () => {
    const seen = [];
    app = fastify();
    app.register(feedback.fastify());
    app.addHook('onSend', async (_, __, payload) => void seen.push(String(payload)));
    app.get('/', async () => ({ a: 1 }));
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    await (await fetch(url)).text();
    assert.match(seen[0], /_agentFeedback/);
  });
});
