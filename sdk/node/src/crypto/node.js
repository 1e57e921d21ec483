/** SHA-256, HMAC and randomness of Node. */

import { createHash, createHmac, randomFillSync } from 'node:crypto';

const POOL_BYTES = 4096;
const pool = new Uint8Array(POOL_BYTES);
let offset = POOL_BYTES;

/**
 * Return the SHA-256 digest of bytes, or of a text's UTF-8.
 * @param {string | Uint8Array} message
 * @returns {Uint8Array}
 */
export function sha256(message) {
  return createHash('sha256').update(message).digest();
}

/**
 * Return the HMAC-SHA256 of bytes, or of a text's UTF-8.
 * @param {Uint8Array} key
 * @param {string | Uint8Array} message
 * @returns {Uint8Array}
 */
export function hmacSha256(key, message) {
  return createHmac('sha256', key).update(message).digest();
}

/**
 * Return random bytes; one call of the system serves many responses.
 * @param {number} count
 * @returns {Uint8Array}
 */
export function randomBytes(count) {
  if (count > POOL_BYTES - offset) {
    randomFillSync(pool);
    offset = 0;
  }
  offset += count;
  return pool.slice(offset - count, offset);
}
