/** One request and its response. */

import { HeaderChanges } from './header_changes.js';

/** @typedef {import('./instrumentation.js').Instrumentation} Instrumentation */
/** @typedef {import('./instrumentation.js').Modification} Modification */
/** @typedef {import('./instrumentation.js').ResponseHead} ResponseHead */

/** One request and its response. Its methods never throw. */
export class Exchange {
  #instrumentation;
  #startedAt = performance.now();
  /** When the request began, on the clock of the wall. */
  startedAtMs = Date.now();

  /**
   * @param {Instrumentation} instrumentation
   * @param {import('./request.js').Request} request
   * @param {import('./context/slot.js').ContextSlot | null} slot
   */
  constructor(instrumentation, request, slot) {
    this.#instrumentation = instrumentation;
    this.request = request;
    this.slot = slot;
    this.maxBodyBytes = instrumentation.maxBodyBytes;
  }

  /**
   * Return the start of a response that may be changed, or null for one that passes untouched.
   * @param {number} statusCode
   * @param {import('./eligibility.js').HeaderPairs} pairs
   * @returns {ResponseHead | null}
   */
  readHead(statusCode, pairs) {
    try {
      return this.#instrumentation.readHead(this, statusCode, pairs);
    } catch (error) {
      this.#instrumentation.warn(error);
      return null;
    }
  }

  /**
   * Return the changes of a response whose body is as the product made it.
   * @param {ResponseHead | null} head null where it is not eligible after all
   * @returns {HeaderChanges | null}
   */
  headerChanges(head) {
    const isRetry = this.slot?.isRetry ?? false;
    const addedHeaders = head?.addedHeaders ?? [];
    if (!isRetry && addedHeaders.length === 0) {
      return null;
    }
    const headers = new HeaderChanges(head?.headers ?? new Map());
    headers.addAll(addedHeaders);
    if (isRetry) {
      headers.makePrivate();
    }
    return headers;
  }

  /**
   * Return what a response becomes, or null; a promise only where the product has requested context.
   * @param {ResponseHead} head
   * @param {Uint8Array} body the whole body
   * @returns {Modification | null | Promise<Modification | null>}
   */
  modify(head, body) {
    const settle = (/** @type {Modification | null} */ modification) => this.#settle(head, modification);
    const fail = (/** @type {unknown} */ error) => {
      this.#instrumentation.warn(error);
      return this.#settle(head, null);
    };
    try {
      const durationMs = performance.now() - this.#startedAt;
      const modification = this.#instrumentation.modify(this, head, body, durationMs);
      return modification instanceof Promise ? modification.then(settle).catch(fail) : settle(modification);
    } catch (error) {
      return fail(error);
    }
  }

  /**
   * @param {ResponseHead} head
   * @param {Modification | null} modification
   * @returns {Modification | null}
   */
  #settle(head, modification) {
    if (modification) {
      modification.headers.addAll(head.addedHeaders);
      return modification;
    }
    const headers = this.headerChanges(head);
    return headers && { headers, body: null };
  }
}
