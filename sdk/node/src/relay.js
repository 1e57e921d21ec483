/** The relay: forwards an agent's handle and allowlisted body from the company's own origin to the service. */

import { ServiceUnavailable } from './errors.js';
import { CircuitBreaker } from './http/circuit_breaker.js';
import { readBounded } from './http/bytes.js';
import { HttpClient } from './http/client.js';
import { contract } from './protocol.js';
import { RelayError, badBody, readRelayBody } from './relay_body.js';
import { WarnOnce } from './warn.js';

const BEARER = /^bearer +([!-~]+)$/i;
const LENGTH = /^[0-9]+$/;
const { handle: HANDLE_PATTERN, paths: SERVICE_PATHS, prefix: PREFIX } = contract.relay;
const { maxBodyBytes: MAX_BODY_BYTES, pauseMs: PAUSE_MS } = contract.relay;
const HANDLE = new RegExp(HANDLE_PATTERN);

/** @typedef {AsyncIterable<Uint8Array> | ReadableStream<Uint8Array> | null} ByteSource */

/**
 * @typedef {object} RelayRequest a request for the relay, of whichever framework
 * @property {string} method
 * @property {string} path without the mount
 * @property {string} [mount] the path under which the product is mounted, or an empty text
 * @property {(name: string) => string | null | undefined} header
 * @property {ByteSource} body is read up to its bound
 */

/**
 * @typedef {object} RelayResponse
 * @property {number} status
 * @property {[string, string][]} headers
 * @property {Uint8Array} body
 */

/**
 * Point every action of an answer to the relay; an action that the relay does not forward becomes null.
 * @param {unknown} value JSON
 * @param {string} [mount]
 * @returns {unknown}
 */
export function rewriteUrls(value, mount = '') {
  if (Array.isArray(value)) {
    return value.map((entry) => rewriteUrls(entry, mount));
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  const entries = Object.entries(value).map(([name, entry]) => [name, rewriteUrls(entry, mount)]);
  if (!Object.hasOwn(value, 'url')) {
    return Object.fromEntries(entries);
  }
  const path = relayPath(/** @type {{url: unknown}} */ (value).url);
  return path === null ? null : { ...Object.fromEntries(entries), url: mount + path };
}

/** @param {unknown} url */
function relayPath(url) {
  const [path = ''] = typeof url === 'string' ? url.split(/[?#]/) : [];
  return Object.keys(SERVICE_PATHS).find((name) => path.endsWith(SERVICE_PATHS[name])) ?? null;
}

/**
 * Tell whether a text is a handle.
 * @param {string} text
 */
export function isHandle(text) {
  return HANDLE.test(text);
}

/** Answers everything under the relay's prefix. */
export class Relay {
  #http;
  #timeoutMs;
  #breaker = new CircuitBreaker(PAUSE_MS);
  #warnings = new WarnOnce();

  /** @param {{endpoint: string, relayTimeout: number}} options */
  constructor({ endpoint, relayTimeout }) {
    this.#http = new HttpClient(endpoint);
    this.#timeoutMs = relayTimeout;
  }

  /**
   * Tell whether a path, without the mount, is the relay's.
   * @param {string} path
   */
  serves(path) {
    return path === PREFIX || path.startsWith(`${PREFIX}/`);
  }

  /**
   * Answer an agent's request, which the product's own code never sees.
   * @param {RelayRequest} request
   * @returns {Promise<RelayResponse>}
   */
  async answer(request) {
    let answer;
    try {
      answer = await this.#forward(request);
    } catch (error) {
      answer = error instanceof RelayError ? error : new RelayError('unavailable');
    }
    const { status, content, headers } = answer;
    const body = new TextEncoder().encode(JSON.stringify(content));
    return {
      status,
      headers: [
        ['Content-Type', 'application/json'],
        ['Content-Length', String(body.length)],
        ['Cache-Control', 'private, no-store'],
        .../** @type {[string, string][]} */ (status === 401 ? [['WWW-Authenticate', 'Bearer']] : []),
        ...headers,
      ],
      body: request.method === 'HEAD' ? new Uint8Array() : body,
    };
  }

  /** @param {RelayRequest} request */
  async #forward(request) {
    const { servicePath, handle } = readTarget(request);
    const text = readRelayBody(request.path, await readBody(request));
    if (this.#breaker.isOpen()) {
      throw new RelayError('unavailable');
    }
    try {
      return await this.#ask(servicePath, handle, text, request.mount ?? '');
    } catch (error) {
      if (error instanceof RelayError && !error.content.retryable) {
        throw error;
      }
      // For a moment no request of an agent waits for the service.
      this.#breaker.open();
      const reason = error instanceof ServiceUnavailable ? error.message : 'it cannot be read';
      this.#warnings.warn('', `the relay has no answer of the service: ${reason}; agents are asked to try again`);
      throw new RelayError('unavailable');
    }
  }

  /**
   * @param {string} servicePath
   * @param {string} handle
   * @param {string} text
   * @param {string} mount
   */
  async #ask(servicePath, handle, text, mount) {
    const response = await this.#http.request({
      method: 'POST',
      path: servicePath,
      body: text,
      headers: { Authorization: `Bearer ${handle}` },
      timeoutMs: this.#timeoutMs,
    });
    this.#breaker.close();
    const content = rewriteUrls(readAnswer(response), mount) ?? {};
    const retryAfter = response.header('retry-after') ?? '';
    /** @type {[string, string][]} */
    const headers = LENGTH.test(retryAfter) ? [['Retry-After', retryAfter]] : [];
    return { status: response.status, content, headers };
  }
}

/**
 * Return the service's path for a request and its handle, or throw `RelayError`.
 *
 * @param {RelayRequest} request
 */
function readTarget({ method, path, header }) {
  const servicePath = Object.hasOwn(SERVICE_PATHS, path) ? SERVICE_PATHS[path] : null;
  if (servicePath === null || method !== 'POST') {
    throw new RelayError('notFound');
  }
  const handle = BEARER.exec(header('authorization') ?? '')?.[1] ?? '';
  if (!isHandle(handle)) {
    throw new RelayError('badHandle');
  }
  return { servicePath, handle };
}

/**
 * Return the JSON object of an answer that is passed on, or throw `RelayError`.
 * @param {import('./http/client.js').HttpResponse} response
 */
export function readAnswer(response) {
  if (response.status >= 300 && response.status < 400) {
    throw new RelayError('redirect');
  }
  const content = response.status >= 200 && response.status < 500 ? response.json() : null;
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new RelayError('unavailable');
  }
  return content;
}

/**
 * Return the bytes of a request's body, or throw `RelayError`.
 * @param {RelayRequest} request
 */
async function readBody({ body, header }) {
  const length = header('content-length') ?? '';
  if (LENGTH.test(length) && Number(length) > MAX_BODY_BYTES) {
    throw new RelayError('largeBody');
  }
  let bytes;
  try {
    bytes = await readBounded(withoutDestruction(body), MAX_BODY_BYTES);
  } catch {
    throw badBody('The body cannot be read.');
  }
  if (bytes === null) {
    drain(body);
    throw new RelayError('largeBody');
  }
  if (LENGTH.test(length) && bytes.length < Number(length)) {
    throw badBody('The body is cut short.');
  }
  return bytes;
}

/**
 * Return a source that stays open when it is not read to its end: a request of `node:http` would take its response's
 * connection with it.
 * @param {any} body
 */
function withoutDestruction(body) {
  return typeof body?.iterator === 'function' ? body.iterator({ destroyOnReturn: false }) : body;
}

/**
 * Have the rest of a request of `node:http` read and forgotten, as its server does with what a product does not read.
 *
 * @param {any} body
 */
function drain(body) {
  body?.resume?.();
}
