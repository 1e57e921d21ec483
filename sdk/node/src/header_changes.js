/** The changes of a response's headers. */

import { contract } from './protocol.js';

const { removedHeaders: REMOVED_HEADERS, cacheControl: CACHE_CONTROL } = contract.eligibility;
const { sharedHeaders, lifetimeHeaders } = contract.cache;
/** The headers that say who may store a response. */
const POLICY_HEADERS = ['cache-control', ...sharedHeaders, ...lifetimeHeaders];

/** Headers to set and to remove. */
export class HeaderChanges {
  #headers;
  /**
   * Names as they are written, and values.
   * @type {Map<string, string>}
   */
  values = new Map();
  /**
   * Lower-case names.
   * @type {Set<string>}
   */
  removed = new Set();

  /** @param {Map<string, string>} headers those of the product, by lower-case names */
  constructor(headers) {
    this.#headers = headers;
  }

  /**
   * Set a header in place of the product's.
   * @param {string} name
   * @param {string} value
   */
  set(name, value) {
    this.values.set(name, value);
  }

  /**
   * Add a value to a header that is a list, unless it has it already.
   * @param {string} name
   * @param {string} value
   */
  add(name, value) {
    const present = this.values.get(name) ?? this.#headers.get(name.toLowerCase()) ?? '';
    const members = present.split(',').map((member) => member.trim().toLowerCase());
    if (!members.includes(value.toLowerCase()) && !(name === 'Vary' && members.includes('*'))) {
      this.set(name, present.trim() === '' ? value : `${present}, ${value}`);
    }
  }

  /**
   * Add several values.
   * @param {[string, string][]} headers
   */
  addAll(headers) {
    for (const [name, value] of headers) {
      this.add(name, value);
    }
  }

  /** Keep the response out of caches. */
  makePrivate() {
    this.#remove(POLICY_HEADERS);
    this.set('Cache-Control', CACHE_CONTROL);
  }

  /**
   * Say the length of another body; what described the bytes of the product's own goes.
   * @param {Uint8Array | null} body null where it stays
   */
  replaceBody(body) {
    if (body !== null) {
      this.#remove(REMOVED_HEADERS);
      this.set('Content-Length', String(body.length));
    }
  }

  /** @param {string[]} names */
  #remove(names) {
    for (const name of names) {
      this.removed.add(name);
    }
  }
}
