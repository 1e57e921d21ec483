/** The headers of responses whose body cannot hold an envelope, or with one. */

import { encodeBase64url } from './base64url.js';
import { contract } from './protocol.js';

const { maxEnvelopeBytes: MAX_BYTES, discoveryLink: DISCOVERY_LINK } = contract.headers;
const encoder = new TextEncoder();

/**
 * Return the value of the header `Agent-Feedback`, or null if it would be too long.
 * @param {string} json the envelope
 * @returns {string | null}
 */
export function envelopeHeader(json) {
  const value = encodeBase64url(encoder.encode(json));
  return value.length <= MAX_BYTES ? value : null;
}

/**
 * Return the value of the header `Link` of every response with an envelope.
 * @param {string} endpoint
 * @returns {string}
 */
export function discoveryLink(endpoint) {
  return DISCOVERY_LINK.replace('{endpoint}', () => endpoint);
}
