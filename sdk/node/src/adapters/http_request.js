/** What the adapters for Node's servers share: they read a request, and answer for the relay. */

import { readRequest } from '../request.js';
import { kindOf, warn } from '../warn.js';

/** @typedef {import('../relay.js').Relay} Relay */
/** @typedef {import('../request.js').Request} Request */

/**
 * Return what the SDK needs to know of a request.
 * @param {any} message the request of `node:http` or `node:http2`
 * @param {object} [details]
 * @param {string} [details.target] path and query, where the framework has cut the message's own
 * @param {string} [details.mount]
 * @param {object} [details.source] the framework's request
 * @param {() => string | null | undefined} [details.clientIp]
 * @returns {Request}
 */
export function readMessage(message, { target, mount, source, clientIp } = {}) {
  return readRequest({
    source: source ?? message,
    aliases: source ? [message] : [],
    method: message.method ?? 'GET',
    target: target ?? message.url ?? '/',
    mount: mount ?? '',
    header: (name) => headerOf(message, name),
    clientIp: clientIp ?? (() => message.socket?.remoteAddress),
  });
}

/**
 * Answer a request that is the relay's.
 * @param {Relay} relay
 * @param {Request} request
 * @param {string} path without the mount
 * @param {any} message
 * @param {any} response
 */
export function answerRelay(relay, request, path, message, response) {
  const isConsumed = message.readableEnded && message.body !== undefined;
  const header = (/** @type {string} */ name) =>
    isConsumed && name === 'content-length' ? null : request.header(name);
  const body = isConsumed ? consumedBody(message.body) : message;
  relay
    .answer({ method: request.method, path, mount: request.mount, header, body })
    .then((answer) => {
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      response.end(answer.body);
    })
    .catch((error) => {
      warn(`the relay cannot answer (${kindOf(error)})`);
      response.destroy?.();
    });
}

/**
 * Return the bytes of a body that a parser of the product has read already.
 * @param {unknown} body
 */
async function* consumedBody(body) {
  yield body instanceof Uint8Array
    ? body
    : new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body));
}

/**
 * @param {any} message
 * @param {string} name
 * @returns {string | null}
 */
function headerOf(message, name) {
  const value = message.headers[name.toLowerCase()];
  return Array.isArray(value) ? value.join(', ') : (value ?? null);
}
