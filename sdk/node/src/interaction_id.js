/** Interaction ids: UUIDs of version 4 that begin with the time, so that the service's indexes grow at their end. */

import { randomBytes } from '#crypto';

const TIME_BYTES = 6;
/** Two digits for each byte. */
const HEXADECIMAL = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/**
 * Return the first bytes of such an id of this moment.
 * @param {number} count
 * @returns {Uint8Array}
 */
export function timeOrderedBytes(count) {
  return stampedBytes(Date.now(), randomBytes(count - TIME_BYTES));
}

/**
 * Return 48 bits of Unix time in milliseconds and then randomness, with the bits of version and variant set.
 * @param {number} milliseconds
 * @param {Uint8Array} randomness
 * @returns {Uint8Array}
 */
export function stampedBytes(milliseconds, randomness) {
  const bytes = new Uint8Array(TIME_BYTES + randomness.length);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, Math.floor(milliseconds / 2 ** 32));
  view.setUint32(2, milliseconds % 2 ** 32);
  bytes.set(randomness, TIME_BYTES);
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  return bytes;
}

/**
 * Return the text of a UUID.
 * @param {Uint8Array} bytes the 16 bytes
 * @returns {string}
 */
export function formatUuid(bytes) {
  let digits = '';
  for (const byte of bytes) {
    digits += HEXADECIMAL[byte];
  }
  return [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)].join(
    '-',
  );
}

/**
 * Return a new interaction id.
 * @returns {string}
 */
export function newInteractionId() {
  return formatUuid(timeOrderedBytes(16));
}
