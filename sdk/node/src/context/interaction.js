/** The signed interaction ids by which an agent's retry of an operation is recognised. */

import { formatUuid, timeOrderedBytes } from '../interaction_id.js';
import { normalizeOperation } from '../operation.js';
import { contract } from '../protocol.js';

const { headBytes: HEAD_BYTES, signatureBytes: SIGNATURE_BYTES } = contract.contextInteraction;
const UUID_4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** @typedef {{sign(message: Uint8Array): Uint8Array}} SigningKey */

/**
 * Return the method and the operation of a request, which its interaction id signs.
 *
 * @param {string} method
 * @param {string} path
 */
export function routeOf(method, path) {
  return `${method} ${normalizeOperation(path)}`;
}

/**
 * Return a new interaction id whose last six bytes sign the others and the route.
 *
 * So every process of a company recognises the retry of the same operation without a store.
 *
 * @param {SigningKey} key
 * @param {string} route
 */
export function newSignedInteraction(key, route) {
  return signedInteraction(key, route, timeOrderedBytes(HEAD_BYTES));
}

/**
 * Return the interaction id of these first bytes.
 *
 * @param {SigningKey} key
 * @param {string} route
 * @param {Uint8Array} head
 */
export function signedInteraction(key, route, head) {
  return formatUuid(join(head, signature(key, head, route)));
}

/**
 * Tell whether an interaction id was made with this key for this route.
 *
 * @param {string} text
 * @param {SigningKey} key
 * @param {string} route
 */
export function isSignedInteraction(text, key, route) {
  if (!UUID_4.test(text)) {
    return false;
  }
  const bytes = Uint8Array.from(text.replaceAll('-', '').match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
  const expected = signature(key, bytes.subarray(0, HEAD_BYTES), route);
  // Every byte is looked at, so that the time says nothing of the signature.
  const difference = expected.reduce((bits, byte, index) => bits | (byte ^ (bytes[HEAD_BYTES + index] ?? 0)), 0);
  return difference === 0;
}

/**
 * @param {SigningKey} key
 * @param {Uint8Array} head
 * @param {string} route
 */
function signature(key, head, route) {
  return key.sign(join(head, new TextEncoder().encode(route))).subarray(0, SIGNATURE_BYTES);
}

/**
 * @param {Uint8Array} first
 * @param {Uint8Array} second
 */
function join(first, second) {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}
