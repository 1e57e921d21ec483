/** One small product in each framework, with the SDK around it. */

import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import express5 from 'express';
import express4 from 'express4';
import { fastify } from 'fastify';
import { Hono } from 'hono';
import { close, listen } from './recording_service.js';

export const LARGE_INTEGER = '{ "n": 123456789012345678901234567890 ,"é":1.0}\n';
export const PAGE = '<!doctype html><html><head><title>a</title></head><body>é</body></html>';

/**
 * The answers of every product, by paths.
 * @type {Record<string, {status?: number, headers?: Record<string, string>, body: string}>}
 */
export const ANSWERS = {
  '/object/1': { headers: { 'Content-Type': 'application/json', ETag: '"a"' }, body: LARGE_INTEGER },
  '/array': { headers: { 'Content-Type': 'application/json; charset=utf-8', ETag: '"a"' }, body: '[1, 2]' },
  '/page': { headers: { 'Content-Type': 'text/html; charset=utf-8' }, body: PAGE },
  '/taken': { headers: { 'Content-Type': 'application/json' }, body: '{"_agentFeedback":1}' },
  '/invalid': { headers: { 'Content-Type': 'application/json' }, body: '{"a":' },
  '/text': { headers: { 'Content-Type': 'text/plain' }, body: 'text' },
  '/shared': { headers: { 'Content-Type': 'application/json', 'Cache-Control': 'public' }, body: '{}' },
  '/missing': { status: 404, headers: { 'Content-Type': 'application/json' }, body: '{"error":"a"}' },
  '/health': { headers: { 'Content-Type': 'application/json' }, body: '{}' },
};

/**
 * @typedef {object} Product
 * @property {string} url
 * @property {() => Promise<void>} close
 */

/**
 * Products by their names.
 * @type {Record<string, (feedback: import('../src/index.js').AgentFeedback, before?: (request: any) => unknown) => Promise<Product>>}
 */
export const PRODUCTS = {
  http: (feedback, before) => serve(createServer(feedback.http(listener(before)))),
  express4: (feedback, before) => serve(createServer(expressApp(express4, feedback, before))),
  express5: (feedback, before) => serve(createServer(expressApp(express5, feedback, before))),
  fastify: startFastify,
  fetch: (feedback, before) => serve(createServer(getRequestListener(feedback.fetch(honoApp(before).fetch)))),
};

/** @param {import('node:http').Server} server */
export async function serve(server) {
  return { url: await listen(server), close: () => close(server) };
}

/** @param {((request: any) => unknown) | undefined} before */
function listener(before) {
  return (/** @type {any} */ request, /** @type {any} */ response) => {
    before?.(request);
    const { status = 200, headers = {}, body } = answerTo(request.url);
    response.writeHead(status, headers).end(body);
  };
}

/**
 * @param {any} express
 * @param {any} feedback
 * @param {any} before
 */
function expressApp(express, feedback, before) {
  const app = express();
  app.set('trust proxy', 'loopback');
  app.use(feedback.express());
  app.use((request, response) => {
    before?.(request);
    const { status = 200, headers = {}, body } = answerTo(request.originalUrl);
    response.status(status).set(headers).send(Buffer.from(body));
  });
  return app;
}

/** @type {any} */
async function startFastify(feedback, before) {
  const app = fastify({ trustProxy: 'loopback' });
  app.register(feedback.fastify());
  app.all('/*', async (request, reply) => {
    before?.(request);
    const { status = 200, headers = {}, body } = answerTo(request.url);
    return reply.code(status).headers(headers).send(body);
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  return { url: `http://127.0.0.1:${app.server.address().port}`, close: () => app.close() };
}

/** @param {any} before */
function honoApp(before) {
  const app = new Hono();
  app.all('*', (context) => {
    before?.(context);
    const { status = 200, headers = {}, body } = answerTo(new URL(context.req.url).pathname);
    return context.body(body, /** @type {any} */ (status), headers);
  });
  return app;
}

/** @param {string} target */
function answerTo(target) {
  return ANSWERS[target.split('?')[0]];
}
