/** What the cache mode allows: a shared cache that stored a capability would hand it to others. */

import { percentEncode } from './percent.js';
import { contract } from './protocol.js';

const { sharedHeaders, privateDirectives, sharedDirectives, lifetimeHeaders } = contract.cache;
const { request: REQUEST_HEADER, requestLink: REQUEST_LINK, requestValue: REQUEST_VALUE } = contract.headers;

// What would end the target of the link, or is not allowed in a header.
const UNSAFE = /[<>"\s\p{Cc}]/gu;

/**
 * @typedef {object} CacheFacts
 * @property {'safe' | 'private' | 'request'} cacheMode
 * @property {Map<string, string>} headers of the response, by lower-case names
 * @property {string} method
 * @property {string} target path and query of the request line
 * @property {string | null} request the request's header `Agent-Feedback-Request`
 */

/**
 * Return whether a response that is eligible gets an envelope, and the headers that the cache mode adds.
 * @param {CacheFacts} facts
 * @returns {{hasEnvelope: boolean, addedHeaders: [string, string][]}}
 */
export function applyCacheMode({ cacheMode, headers, method, target, request }) {
  const isHead = contract.eligibility.excludedMethods.includes(method);
  if (cacheMode !== 'request') {
    return { hasEnvelope: !isHead && (cacheMode === 'private' || !isShared(headers)), addedHeaders: [] };
  }
  const hasEnvelope = !isHead && request === REQUEST_VALUE;
  /** @type {[string, string][]} */
  const addedHeaders = [['Vary', REQUEST_HEADER]];
  // A target that begins with two slashes would be read as a host.
  if (!hasEnvelope && (isHead || method === 'GET') && /^\/(?!\/)/.test(target)) {
    addedHeaders.push(['Link', REQUEST_LINK.replace('{target}', () => target.replace(UNSAFE, percentEncode))]);
  }
  return { hasEnvelope, addedHeaders };
}

/**
 * Tell whether a shared cache may store a response.
 * @param {Map<string, string>} headers
 * @returns {boolean}
 */
function isShared(headers) {
  if (sharedHeaders.some((/** @type {string} */ name) => headers.has(name))) {
    return true;
  }
  const directives = (headers.get('cache-control') ?? '').split(',').map((directive) => directive.trim().toLowerCase());
  // With a field name, as in private="set-cookie", they are about that field only.
  if (directives.some((directive) => privateDirectives.includes(directive))) {
    return false;
  }
  return (
    directives.some((directive) => sharedDirectives.includes(directive.split('=')[0].trim())) ||
    lifetimeHeaders.some((/** @type {string} */ name) => headers.has(name))
  );
}
