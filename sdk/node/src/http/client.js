/**
 * The HTTP client of this package: the global `fetch`, with one deadline, bounded answers and no redirects.
 */

import { ServiceUnavailable, ServiceUnreachable } from '../errors.js';
import { contract } from '../protocol.js';
import { USER_AGENT } from '../version.js';

const MAX_RESPONSE_BYTES = contract.telemetry.maxResponseBytes;

/** Node's timers take no more. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** The system calls that fail before a request is sent. */
const CONNECTING = new Set(['connect', 'getaddrinfo']);

/** Codes of a handshake that failed, or of a connection that was not opened in time. */
const NOT_CONNECTED =
  /^(?:UND_ERR_CONNECT_TIMEOUT|ERR_TLS_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ECONNREFUSED|ENOTFOUND)/;

/** The signal of a request's own deadline. */
class DeadlinePassed extends Error {}

/**
 * @typedef {object} HttpRequest
 * @property {string} method
 * @property {string} path of the service, behind the path of the endpoint
 * @property {string | Uint8Array | null} [body] JSON
 * @property {Record<string, string>} [headers]
 * @property {number} timeoutMs from the look-up of the host to the last byte
 * @property {AbortSignal} [signal] ends the request earlier; its reason is thrown
 */

/** An answer of the service. */
export class HttpResponse {
  /**
   * @param {number} status
   * @param {string} text the body
   * @param {Headers | Record<string, string>} [headers]
   */
  constructor(status, text, headers) {
    this.status = status;
    this.text = text;
    this.headers = new Headers(headers);
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
    const timer = setTimeout(() => controller.abort(new DeadlinePassed()), Math.min(request.timeoutMs, MAX_TIMEOUT_MS));
    request.signal?.addEventListener('abort', stop, { once: true });
    try {
      request.signal?.throwIfAborted();
      return await this.#exchange(request, controller);
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
   * @param {AbortController} controller
   */
  async #exchange(request, controller) {
    const response = await fetch(this.#endpoint + request.path, {
      method: request.method,
      headers: {
        'User-Agent': USER_AGENT,
        Accept: 'application/json',
        ...(request.body ? { 'Content-Type': 'application/json' } : {}),
        ...request.headers,
      },
      body: request.body ?? null,
      redirect: 'manual',
      signal: controller.signal,
    });
    const bytes = await readBounded(response.body, MAX_RESPONSE_BYTES);
    if (bytes === null) {
      controller.abort();
      throw new ServiceUnavailable(`the answer is longer than ${MAX_RESPONSE_BYTES} bytes`);
    }
    return new HttpResponse(response.status, new TextDecoder().decode(bytes), response.headers);
  }
}

/**
 * Return the bytes of a body, or null as soon as there are more than `limit`.
 *
 * @param {AsyncIterable<Uint8Array> | ReadableStream<Uint8Array> | null} body
 * @param {number} limit
 * @returns {Promise<Uint8Array | null>}
 */
export async function readBounded(body, limit) {
  /** @type {Uint8Array[]} */
  const chunks = [];
  let size = 0;
  for await (const chunk of iterate(body)) {
    size += chunk.length;
    if (size > limit) {
      return null;
    }
    chunks.push(chunk);
  }
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

/**
 * @param {AsyncIterable<Uint8Array> | ReadableStream<Uint8Array> | null} body
 * @returns {AsyncIterable<Uint8Array>}
 */
async function* iterate(body) {
  if (body === null) {
    return;
  }
  if (Symbol.asyncIterator in body) {
    yield* body;
    return;
  }
  // Not every runtime can iterate over a web stream.
  const reader = /** @type {ReadableStream<Uint8Array>} */ (body).getReader();
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      yield part.value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/**
 * Return the error of this package for one of `fetch`.
 *
 * @param {any} error
 * @returns {ServiceUnavailable}
 */
function unavailable(error) {
  if (error instanceof ServiceUnavailable) {
    return error;
  }
  if (error instanceof DeadlinePassed) {
    return new ServiceUnavailable('no usable answer (timeout)');
  }
  const cause = error?.cause ?? error;
  // A host with several addresses has a failure of each.
  const failures = cause?.errors?.length ? cause.errors : [cause];
  const message = `no usable answer (${nameOf(failures[0])})`;
  return failures.every(isConnecting) ? new ServiceUnreachable(message) : new ServiceUnavailable(message);
}

/** @param {any} failure */
function nameOf(failure) {
  return failure?.code ?? failure?.name ?? 'error';
}

/**
 * Tell whether an error is one of opening a connection, so that nothing was sent.
 *
 * @param {any} error
 */
function isConnecting(error) {
  return CONNECTING.has(error?.syscall) || NOT_CONNECTED.test(String(error?.code));
}
