/** Which responses can carry an envelope, by their status and headers. */

import { contract } from './protocol.js';

const RULES = contract.eligibility;
const JSON_TYPE = typeExpression(RULES.jsonTypes, RULES.jsonCharsets);
const HTML_TYPE = typeExpression(RULES.htmlTypes, RULES.htmlCharsets);

/** @typedef {readonly (readonly [string, unknown])[]} HeaderPairs names and values; a value may be a list */

/**
 * Return headers by their lower-case names; the values of a repeated one are joined with commas.
 * @param {HeaderPairs} pairs
 * @returns {Map<string, string>}
 */
export function indexHeaders(pairs) {
  /** @type {Map<string, string>} */
  const headers = new Map();
  for (const [header, value] of pairs) {
    const name = header.toLowerCase();
    const text = Array.isArray(value) ? value.join(', ') : String(value);
    const former = headers.get(name);
    headers.set(name, former === undefined ? text : `${former}, ${text}`);
  }
  return headers;
}

/**
 * Return what a response is, or null where it passes untouched.
 * @param {number} status
 * @param {Map<string, string>} headers by lower-case names
 * @returns {'json' | 'html' | null}
 */
export function contentKind(status, headers) {
  if (status < RULES.minStatus || status > RULES.maxStatus || RULES.excludedStatuses.includes(status)) {
    return null;
  }
  const encoding = headers.get('content-encoding') ?? RULES.contentEncodings[0];
  if (!RULES.contentEncodings.includes(encoding.trim().toLowerCase())) {
    return null;
  }
  if (RULES.excludedHeaders.some((/** @type {string} */ name) => headers.has(name))) {
    return null;
  }
  const type = (headers.get('content-type') ?? '').trim();
  if (JSON_TYPE.test(type)) {
    return 'json';
  }
  return HTML_TYPE.test(type) ? 'html' : null;
}

/**
 * @param {string[]} types
 * @param {string[]} charsets
 */
function typeExpression(types, charsets) {
  const type = types.map((text) => text.replace('+', '\\+').replace('*', '[\\w!#$&^.+-]+')).join('|');
  const charset = `[ \\t]*;[ \\t]*charset[ \\t]*=[ \\t]*("?)(?:${charsets.join('|')})\\1`;
  return new RegExp(`^(?:${type})(?:${charset})?[ \\t]*$`, 'i');
}
