/** Calls for customer context: bounded in time, failing open, behind a circuit breaker, with few warnings. */

import { ServiceError, ServiceRefused, ServiceUnavailable } from '../errors.js';
import { retryAfterMs } from '../http/backoff.js';
import { CircuitBreaker } from '../http/circuit_breaker.js';
import { HttpClient } from '../http/client.js';
import { contract } from '../protocol.js';
import { WarnOnce, kindOf } from '../warn.js';

const { pauseMs: PAUSE_MS, pausingStatuses: PAUSING_STATUSES } = contract.contextClient;

/** @typedef {Record<string, any>} JsonObject */

/**
 * @typedef {object} ContextAccess where customer context is, and the key to it
 * @property {{reveal(): string} | null} key
 * @property {string} endpoint
 * @property {number} timeout in milliseconds, for a whole call
 * @property {boolean} isEnabled
 */

/**
 * @typedef {object} ContextCall one request; members of the body that are null or undefined are omitted
 * @property {string} method
 * @property {string} path
 * @property {JsonObject} [body]
 */

/**
 * @typedef {object} CallOptions
 * @property {boolean | undefined} [raiseErrors] whether the call rejects with its error instead of failing open
 * @property {number | undefined} [timeout] of this call, in milliseconds
 * @property {AbortSignal | undefined} [signal]
 */

/** Calls the service on behalf of the company. */
export class ContextClient {
  #access;
  #http;
  #breaker = new CircuitBreaker(PAUSE_MS);
  #warnings = new WarnOnce();

  /** @param {ContextAccess} access */
  constructor(access) {
    this.#access = access;
    this.#http = new HttpClient(access.endpoint);
  }

  /**
   * Resolve to what `parse` makes of the service's answer, or to `fallback` after an error.
   *
   * @template T
   * @param {ContextCall} call
   * @param {(content: JsonObject) => T} parse
   * @param {T} fallback
   * @param {CallOptions} options
   * @returns {Promise<T>}
   */
  async call(call, parse, fallback, options) {
    try {
      // A caller that wants the errors gets the real one.
      if (!options.raiseErrors && this.#breaker.isOpen()) {
        return fallback;
      }
      return this.#parsed(await this.#send(call, options), parse);
    } catch (error) {
      if (options.raiseErrors) {
        throw error;
      }
      if (!options.signal?.aborted) {
        this.#warn(call.path, error);
      }
      return fallback;
    }
  }

  /**
   * @param {ContextCall} call
   * @param {CallOptions} options
   * @returns {Promise<JsonObject>}
   */
  async #send({ method, path, body }, { timeout, signal }) {
    const { key, isEnabled } = this.#access;
    if (!isEnabled) {
      throw new ServiceUnavailable('it is switched off by AGENT_FEEDBACK_ENABLED');
    }
    if (key === null) {
      throw new ServiceUnavailable('companyKey (or AGENT_FEEDBACK_COMPANY_KEY) is needed');
    }
    const request = {
      method,
      path,
      headers: { Authorization: `Bearer ${key.reveal()}` },
      timeoutMs: timeout ?? this.#access.timeout,
      ...(body ? { body: asJson(body) } : {}),
      ...(signal ? { signal } : {}),
    };
    return this.#exchange(request);
  }

  /**
   * @param {import('../http/client.js').HttpRequest} request
   * @returns {Promise<JsonObject>}
   */
  async #exchange(request) {
    let response;
    let content;
    try {
      response = await this.#http.request(request);
      content = readContent(response);
    } catch (error) {
      if (error instanceof ServiceUnavailable) {
        this.#breaker.open();
      }
      throw error;
    }
    if (response.status === 200) {
      return content;
    }
    if (response.status >= 500 || PAUSING_STATUSES.includes(response.status)) {
      this.#breaker.open(retryAfterMs(response.header('retry-after')));
    }
    throw new ServiceRefused(response.status, content);
  }

  /**
   * An answer that cannot be read is a failure like none.
   *
   * @template T
   * @param {JsonObject} content
   * @param {(content: JsonObject) => T} parse
   * @returns {T}
   */
  #parsed(content, parse) {
    try {
      const result = parse(content);
      this.#breaker.close();
      return result;
    } catch {
      this.#breaker.open();
      throw new ServiceUnavailable('the answer cannot be read');
    }
  }

  /**
   * Warn once of each kind: there may be thousands of responses a second.
   *
   * @param {string} path
   * @param {unknown} error
   */
  #warn(path, error) {
    if (!this.#access.isEnabled) {
      return;
    }
    if (error instanceof ServiceRefused && error.status < 500) {
      // Only the first words of the path: the rest may be a field's key of the company's own.
      const kind = `${path.split('/').slice(0, 5).join('/')} ${error.status} ${error.code}`;
      this.#warnings.warn(kind, `customer context was refused at ${kind}: ${error.message}`);
    } else if (error instanceof ServiceError) {
      const message = `customer context is not available: ${error.message}; the product goes on without it`;
      this.#warnings.warn('unavailable', message);
    } else {
      const kind = kindOf(error);
      this.#warnings.warn(kind, `customer context was not requested (${kind})`);
    }
  }
}

/**
 * Return the members of a body that have a value, as JSON.
 *
 * @param {JsonObject} body
 */
function asJson(body) {
  return JSON.stringify(
    Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null && value !== undefined)),
  );
}

/**
 * Return the answer's JSON object; empty for an error status without one, as proxies send.
 *
 * @param {import('../http/client.js').HttpResponse} response
 * @returns {JsonObject}
 */
function readContent(response) {
  const content = response.json();
  if (typeof content === 'object' && content !== null && !Array.isArray(content)) {
    return content;
  }
  if (response.status >= 400 && response.status < 600) {
    return {};
  }
  throw new ServiceUnavailable('no usable answer (no JSON object)');
}
