/** A product for the conformance suite: a listener of `node:http`. */

import { answerRequest, chunksOf, createProductServer, feedback, listen } from './product.js';

/**
 * @param {import('node:http').IncomingMessage} request
 * @param {import('node:http').ServerResponse} response
 */
async function answer(request, response) {
  const reply = await answerRequest(String(request.method), String(request.url), request);
  response.writeHead(reply.status, reply.headers.flat());
  if (!reply.isStream && !reply.fails) {
    response.end(reply.chunks[0]);
    return;
  }
  try {
    for await (const chunk of chunksOf(reply)) {
      response.write(chunk);
    }
    response.end();
  } catch (error) {
    response.destroy(/** @type {Error} */ (error));
  }
}

listen(createProductServer(feedback.http(answer)));
