/** A product for the conformance suite: a handler of `fetch` style, Hono on Node. */

import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { EMPTY_STATUSES, answerRequest, createProductServer, feedback, listen, streamOf } from './product.js';
import { Readable } from 'node:stream';

const app = new Hono();
app.all('*', async (context) => {
  const { pathname } = new URL(context.req.url);
  const reply = await answerRequest(context.req.method, pathname, context.req.raw);
  return new Response(bodyOf(reply), { status: reply.status, headers: reply.headers });
});

/**
 * @param {import('./product.js').Answer} reply
 * @returns {any}
 */
function bodyOf(reply) {
  if (reply.isStream || reply.fails) {
    return Readable.toWeb(streamOf(reply));
  }
  return EMPTY_STATUSES.includes(reply.status) ? null : reply.chunks[0];
}

listen(createProductServer(getRequestListener(feedback.fetch(app.fetch))));
