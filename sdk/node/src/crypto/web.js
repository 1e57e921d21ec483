/** SHA-256, HMAC and randomness where Node's modules do not exist, such as in workers. */

import { digest, hmac } from './sha256.js';

const encoder = new TextEncoder();

/**
 * Return the SHA-256 digest of bytes, or of a text's UTF-8.
 * @param {string | Uint8Array} message
 * @returns {Uint8Array}
 */
export function sha256(message) {
  return digest(asBytes(message));
}

/**
 * Return the HMAC-SHA256 of bytes, or of a text's UTF-8.
 * @param {Uint8Array} key
 * @param {string | Uint8Array} message
 * @returns {Uint8Array}
 */
export function hmacSha256(key, message) {
  return hmac(key, asBytes(message));
}

/**
 * Return random bytes.
 * @param {number} count
 * @returns {Uint8Array}
 */
export function randomBytes(count) {
  return globalThis.crypto.getRandomValues(new Uint8Array(count));
}

/**
 * @param {string | Uint8Array} message
 * @returns {Uint8Array}
 */
function asBytes(message) {
  return typeof message === 'string' ? encoder.encode(message) : message;
}
