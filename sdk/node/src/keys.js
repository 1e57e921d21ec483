/** Product keys and company keys, which do not show their secret when they are printed, logged or serialized. */

import { hmacSha256, sha256 } from '#crypto';
import { encodeBase64url } from './base64url.js';
import { contract } from './protocol.js';

const PRODUCT_KEY = new RegExp(contract.keys.product);
const COMPANY_KEY = new RegExp(contract.keys.company);
const SCOPE = new RegExp(contract.keys.scope);
const ID_START = 'af_live_'.length;
const ID_LENGTH = 32;
const INSPECT = Symbol.for('nodejs.util.inspect.custom');

const encoder = new TextEncoder();

/** A key that shows only the part which is no secret. */
class Key {
  #text;

  /**
   * @param {string} text
   * @param {RegExp} pattern
   * @param {string} shape
   */
  constructor(text, pattern, shape) {
    if (typeof text !== 'string' || !pattern.test(text)) {
      throw new TypeError(shape);
    }
    this.#text = text;
  }

  /** Return the key as text. */
  reveal() {
    return this.#text;
  }

  toString() {
    return `${this.#text.slice(0, this.#text.indexOf('_', ID_START + ID_LENGTH))}_…`;
  }

  toJSON() {
    return this.toString();
  }

  [INSPECT]() {
    return this.toString();
  }
}

/** A product key: authenticates telemetry and signs capabilities. */
export class ProductKey extends Key {
  #secret;

  /** @param {string} text */
  constructor(text) {
    super(text, PRODUCT_KEY, 'a product key looks like af_live_<32 hex digits>_<secret>');
    /** The public part, by which the service finds the key. */
    this.id = text.slice(ID_START, ID_START + ID_LENGTH);
    const keySecret = text.slice(ID_START + ID_LENGTH + 1);
    /** What consent subjects are derived from; it stays when the key is replaced. */
    this.scope = SCOPE.test(keySecret) ? keySecret.slice(0, ID_LENGTH) : this.id;
    this.#secret = sha256(text);
  }

  /**
   * Return the capability of claims.
   * @param {string} claims compact JSON
   * @returns {string}
   */
  sign(claims) {
    const message = `${contract.capability.prefix}${this.id}.${encodeBase64url(encoder.encode(claims))}`;
    return `${message}.${encodeBase64url(hmacSha256(this.#secret, message))}`;
  }
}

/** A company key: authenticates customer context. A product key with the right `company` is one too. */
export class CompanyKey extends Key {
  #secret;

  /** @param {string} text */
  constructor(text) {
    super(text, COMPANY_KEY, 'a company key looks like af_company_<32 hex digits>_<secret>');
    // Derived for this purpose alone: such a signature is accepted nowhere else.
    this.#secret = sha256(contract.contextInteraction.keyLabel + text);
  }

  /**
   * Return the HMAC-SHA256 of a message under a secret derived from this key.
   * @param {Uint8Array} message
   * @returns {Uint8Array}
   */
  sign(message) {
    return hmacSha256(this.#secret, message);
  }
}
