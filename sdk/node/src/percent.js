/** Percent-encoding of paths. */

const ENCODED_RUN = /(?:%[0-9A-Fa-f]{2})+/g;

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/**
 * Return decoded text: `%` without two hexadecimal digits stands for itself, bytes that are no UTF-8 become U+FFFD.
 * @param {string} text
 * @returns {string}
 */
export function percentDecode(text) {
  return text.includes('%') ? text.replace(ENCODED_RUN, decodeRun) : text;
}

/**
 * Return the percent-encoded UTF-8 of a text, in upper case.
 * @param {string} text
 * @returns {string}
 */
export function percentEncode(text) {
  return Array.from(encoder.encode(text), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}

/** @param {string} run */
function decodeRun(run) {
  const bytes = run.match(/[^%]{2}/g) ?? [];
  return decoder.decode(Uint8Array.from(bytes, (digits) => Number.parseInt(digits, 16)));
}
