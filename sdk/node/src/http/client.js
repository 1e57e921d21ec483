/** The HTTP client of this package: one deadline, bounded answers, no redirects. */

import { send } from '#http_transport';
import { contract } from '../protocol.js';
import { USER_AGENT } from '../version.js';
import { DeadlinePassed, unavailable } from './failures.js';

const MAX_RESPONSE_BYTES = contract.telemetry.maxResponseBytes;

/** Node's timers take no more. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * @typedef {object} HttpRequest
 * @property {string} method
 * @property {string} path of the service, behind the path of the endpoint
 * @property {string | null} [body] JSON
 * @property {Record<string, string>} [headers]
 * @property {number} timeoutMs from the look-up of the host to the last byte
 * @property {number} [maxResponseBytes]
 * @property {AbortSignal} [signal] ends the request earlier; its reason is thrown
 */

/**
 * @typedef {object} TransportRequest what a transport sends
 * @property {string} url
 * @property {string} method
 * @property {string | null} body
 * @property {Record<string, string>} headers by lower-case names
 * @property {number} maxResponseBytes
 * @property {AbortSignal} signal
 */

/**
 * @typedef {object} TransportResponse
 * @property {number} status
 * @property {Uint8Array} bytes
 * @property {Record<string, string>} headers by lower-case names; the values of a repeated one are joined with commas
 */

/** An answer of the service. */
export class HttpResponse {
  #headers;

  /**
   * @param {number} status
   * @param {string} text the body
   * @param {Record<string, string>} [headers] by lower-case names
   */
  constructor(status, text, headers = {}) {
    this.status = status;
    this.text = text;
    this.#headers = headers;
  }

  /** All headers, by lower-case names. */
  get headers() {
    return { ...this.#headers };
  }

  /**
   * Return a header, or null.
   *
   * @param {string} name
   * @returns {string | null}
   */
  header(name) {
    return this.#headers[name.toLowerCase()] ?? null;
  }

  /**
   * Return the body as JSON, or undefined if it is none.
   *
   * @returns {unknown}
   */
  json() {
    try {
      return JSON.parse(this.text);
    } catch {
      return undefined;
    }
  }
}

/** Sends requests to one origin. */
export class HttpClient {
  #endpoint;

  /** @param {string} endpoint without a slash at its end */
  constructor(endpoint) {
    this.#endpoint = endpoint;
  }

  /**
   * Send a request and return the answer, whatever its status.
   *
   * Throw `ServiceUnavailable` if none arrives, and `ServiceUnreachable` if no connection was opened.
   *
   * @param {HttpRequest} request
   * @returns {Promise<HttpResponse>}
   */
  async request(request) {
    const controller = new AbortController();
    const stop = () => controller.abort(request.signal?.reason);
    const pass = () => controller.abort(new DeadlinePassed());
    const timer = setTimeout(pass, Math.min(request.timeoutMs, MAX_TIMEOUT_MS));
    request.signal?.addEventListener('abort', stop, { once: true });
    try {
      request.signal?.throwIfAborted();
      const { status, bytes, headers } = await send(this.#prepare(request, controller.signal));
      return new HttpResponse(status, new TextDecoder().decode(bytes), headers);
    } catch (error) {
      request.signal?.throwIfAborted();
      throw unavailable(error);
    } finally {
      clearTimeout(timer);
      request.signal?.removeEventListener('abort', stop);
    }
  }

  /**
   * @param {HttpRequest} request
   * @param {AbortSignal} signal
   * @returns {TransportRequest}
   */
  #prepare({ method, path, body = null, headers = {}, maxResponseBytes = MAX_RESPONSE_BYTES }, signal) {
    /** @type {Record<string, string>} */
    const allHeaders = { 'user-agent': USER_AGENT, accept: 'application/json' };
    if (body !== null) {
      allHeaders['content-type'] = 'application/json';
    }
    for (const [name, value] of Object.entries(headers)) {
      allHeaders[name.toLowerCase()] = value;
    }
    return { url: this.#endpoint + path, method, body, headers: allHeaders, maxResponseBytes, signal };
  }
}
