/** A product for the conformance suite: an Express application, of either version. */

import { answerRequest, chunksOf, createProductServer, feedback, groupHeaders, listen } from './product.js';

/**
 * Serve the product.
 * @param {any} express
 */
export function start(express) {
  const app = express();
  // The routes say which headers there are.
  app.disable('etag');
  app.disable('x-powered-by');
  app.use(feedback.express());
  app.use((/** @type {any} */ request, /** @type {any} */ response, /** @type {any} */ next) => {
    answer(request, response).catch(next);
  });
  // Express prints errors without it.
  app.use((/** @type {any} */ error, /** @type {any} */ _, /** @type {any} */ response, /** @type {any} */ next) => {
    response.headersSent ? response.socket.destroy() : next(error);
  });
  listen(createProductServer(app));
}

/**
 * @param {any} request
 * @param {any} response
 */
async function answer(request, response) {
  const reply = await answerRequest(request.method, request.originalUrl, request);
  response.status(reply.status);
  for (const [name, value] of Object.entries(groupHeaders(reply.headers))) {
    response.setHeader(name, value);
  }
  if (reply.isStream || reply.fails) {
    for await (const chunk of chunksOf(reply)) {
      response.write(chunk);
    }
    response.end();
  } else if (reply.isDeclared || !response.get('Content-Type') || reply.status !== 200) {
    response.end(reply.chunks[0]);
  } else {
    response.send(reply.chunks[0]);
  }
}
