/** The adapter for listeners of `node:http`, `node:https` and the compatibility API of `node:http2`. */

import { pathOf } from '../request.js';
import { answerRelay, readMessage } from './http_request.js';
import { holdResponse } from './http_response.js';

/** @typedef {import('../exchange.js').Exchange} Exchange */
/** @typedef {import('../instrumentation.js').Instrumentation} Instrumentation */

/**
 * Wrap a listener: eligible responses carry an envelope, and the context action that the product requests.
 * @param {Instrumentation} instrumentation
 * @param {(request: any, response: any) => unknown} listener
 * @returns {(this: any, request: any, response: any) => unknown}
 */
export function httpAdapter(instrumentation, listener) {
  if (!instrumentation.isActive) {
    return listener;
  }
  // A listener may be called with the server as `this`, and may return a promise that nobody awaits.
  return function listen(message, response) {
    const keep = (/** @type {Exchange} */ exchange) => holdResponse(response, exchange);
    const isAnswered = instrument(instrumentation, message, response, { keep });
    return isAnswered ? undefined : listener.call(this, message, response);
  };
}

/**
 * Instrument one request of Node's servers; tell whether the relay answers it.
 * @param {Instrumentation} instrumentation
 * @param {any} message
 * @param {any} response
 * @param {Parameters<typeof readMessage>[1] & {path?: string, keep: (exchange: Exchange) => void}} details `path` is without
 *   the mount; `keep` is given the exchange of a response that may be changed
 * @returns {boolean}
 */
export function instrument(instrumentation, message, response, { path, keep, ...details }) {
  try {
    const request = readMessage(message, details);
    const relayPath = path === undefined ? request.path : pathOf(path);
    if (instrumentation.relay?.serves(relayPath)) {
      answerRelay(instrumentation.relay, request, relayPath, message, response);
      return true;
    }
    const exchange = instrumentation.begin(request);
    if (exchange) {
      keep(exchange);
    }
  } catch (error) {
    instrumentation.warn(error);
  }
  return false;
}
