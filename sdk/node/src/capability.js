/** Capabilities, which let an agent send feedback on one interaction, and the subjects of consent. */

import { hmacSha256, sha256 } from '#crypto';
import { encodeBase64url } from './base64url.js';
import { contract } from './protocol.js';

/** @typedef {import('./keys.js').ProductKey} ProductKey */

export const LIFETIME_S = contract.capability.lifetimeS;
export const NONCE_BYTES = contract.capability.nonceBytes;

const { prefix: SUBJECT_PREFIX, scopeLabel: SCOPE_LABEL, referenceLabel: REFERENCE_LABEL } = contract.subject;
// White space of the protocol: space, tab, line feed, vertical tab, form feed, carriage return.
const OUTER_WHITE_SPACE = /^[ \t\n\v\f\r]+|[ \t\n\v\f\r]+$/g;

/**
 * The claims of a capability, in their order on the wire. New ones go last and are optional.
 * @typedef {object} Claims
 * @property {string} interactionId
 * @property {number} issuedAt seconds since 1970
 * @property {Uint8Array} nonce
 * @property {string | null} [subject]
 * @property {number} [revision] of the decision that is cached for the subject; 0 is left out
 */

/**
 * Return the capability of one interaction.
 * @param {ProductKey} key
 * @param {Claims} claims
 * @returns {string}
 */
export function mint(key, { interactionId, issuedAt, nonce, subject, revision }) {
  return key.sign(
    JSON.stringify({
      v: contract.capability.version,
      i: interactionId,
      iat: issuedAt,
      exp: issuedAt + LIFETIME_S,
      n: encodeBase64url(nonce),
      ...(subject ? { s: subject, ...(revision ? { r: revision } : {}) } : {}),
    }),
  );
}

/**
 * Return the opaque id under which the service stores a customer's consent decision.
 * @param {string} scope
 * @param {string} reference
 * @returns {string}
 */
export function consentSubject(scope, reference) {
  const secret = sha256(SCOPE_LABEL + scope.toLowerCase());
  const message = REFERENCE_LABEL + reference.replace(OUTER_WHITE_SPACE, '');
  return SUBJECT_PREFIX + encodeBase64url(hmacSha256(secret, message));
}
