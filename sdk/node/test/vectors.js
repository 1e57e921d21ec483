/** The test vectors of the protocol. */

import { readFileSync } from 'node:fs';

/**
 * Return the cases of a subject.
 * @param {string} subject
 * @returns {{name: string, input: any, expected: any, alsoAllowed?: any[]}[]}
 */
export function cases(subject) {
  const file = new URL(`../protocol/vectors/${subject}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')).cases;
}

/**
 * Return the body of a case as bytes.
 * @param {{body?: string, bodyBase64?: string}} input
 * @returns {Uint8Array}
 */
export function bodyOf({ body, bodyBase64 }) {
  return bodyBase64 === undefined ? Buffer.from(body ?? '') : Buffer.from(bodyBase64, 'base64');
}
