/** A product for the conformance suite: a Fastify application. */

import { fastify } from 'fastify';
import {
  EMPTY_STATUSES,
  answerRequest,
  createProductServer,
  feedback,
  groupHeaders,
  listen,
  streamOf,
} from './product.js';

/** @type {any} */
let server;
const app = fastify({ serverFactory: (listener) => (server = createProductServer(listener)) });
app.register(feedback.fastify());
app.setNotFoundHandler(answer);

/**
 * @param {any} request
 * @param {any} reply
 */
async function answer(request, reply) {
  const { status, headers, ...content } = await answerRequest(request.method, request.raw.url, request);
  if (EMPTY_STATUSES.includes(status) || headers.some(([name, value]) => /type/i.test(name) && value.includes(','))) {
    // Fastify would send other headers than the route has.
    reply.hijack();
    reply.raw.writeHead(status, headers.flat()).end(content.chunks[0]);
    return;
  }
  reply.code(status).headers(groupHeaders(headers));
  // Fastify would correct a length, and give a type to a body without one.
  const isOwn = content.isStream || content.fails || content.isDeclared || !reply.hasHeader('content-type');
  const { chunks } = content;
  return reply.send(isOwn && chunks[0].length > 0 ? streamOf({ status, headers, ...content }) : chunks[0]);
}

await app.ready();
listen(server);
