/** Operations: the path of a request with its changing parts replaced. */

import { percentDecode, percentEncode } from './percent.js';
import { contract } from './protocol.js';

const { maxLength: MAX_LENGTH, placeholder: PLACEHOLDER, safeCharacters: SAFE } = contract.operation;

const NUMBER_OR_UUID = /^(?:[0-9]+|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})$/i;
// The service refuses these in an operation, percent-encoded ones too.
const REFUSED = /[\p{White_Space}?#@\p{Cc}]/u;
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;
const UNSAFE_RUN = new RegExp(`[^A-Za-z0-9${SAFE.replace(/[\\\]^-]/g, '\\$&')}]+`, 'gu');

/**
 * Return the operation of a path: no query, `:id` for UUIDs, numbers and what may be a name or an address.
 * @param {string} path decoded text
 * @returns {string}
 */
export function normalizeOperation(path) {
  const segments = withoutQuery(path)
    .split('/')
    .map((segment) => (isRefused(segment) ? PLACEHOLDER : replaceId(segment)));
  const operation = segments.join('/').replace(UNSAFE_RUN, percentEncode);
  return operation.slice(0, MAX_LENGTH) || '/';
}

/**
 * Return an operation that a company's code has named, normalized, or null where the service would refuse it.
 * @param {unknown} name
 * @returns {string | null}
 */
export function normalizeNamedOperation(name) {
  if (typeof name !== 'string' || UNPRINTABLE.test(name)) {
    return null;
  }
  const segments = withoutQuery(name).split('/').map(replaceId);
  const operation = Array.from(segments.join('/')).slice(0, MAX_LENGTH).join('');
  return operation === '' || isRefused(operation) ? null : operation;
}

/** @param {string} text */
function withoutQuery(text) {
  const end = text.search(/[?#]/);
  return end < 0 ? text : text.slice(0, end);
}

/** @param {string} segment */
function replaceId(segment) {
  return NUMBER_OR_UUID.test(segment) ? PLACEHOLDER : segment;
}

/** @param {string} text */
function isRefused(text) {
  return REFUSED.test(text) || (text.includes('%') && REFUSED.test(percentDecode(text)));
}
