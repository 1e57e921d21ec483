/** Runtime hints: what a request says of the agent's software. */

import { contract } from './protocol.js';

const MAX_LENGTH = contract.runtimeHint.maxLength;
const TOKEN = "[A-Za-z0-9!#$%&'*+.^_`|~-]+";
// What only a mail address, a URL, or a host that begins with www has.
const CONTACT_MARK = /@|%40|:\/\/|\bwww\./i;
const CONTACT_EDGE = /[\s(),;]/;
const COMMENT_OR_PRODUCT = new RegExp(`\\(([^()]*)\\)?|(${TOKEN}(?:/${TOKEN})?)`, 'g');
const VERSIONED_PRODUCT = new RegExp(`(?:^|(?<=[\\s;,]))${TOKEN}/${TOKEN}`, 'g');
// Control characters, and halves of surrogate pairs, which are no text.
const REFUSED = /[\p{Cc}\p{Cs}]/u;

/**
 * Return a callback's text, trimmed and cut; null where nothing is left, or it holds control characters.
 * @param {unknown} text
 * @returns {string | null}
 */
export function cleanHint(text) {
  if (typeof text !== 'string') {
    return null;
  }
  const hint = Array.from(text.trim()).slice(0, MAX_LENGTH).join('').trim();
  return hint === '' || REFUSED.test(hint) ? null : hint;
}

/**
 * Return the product tokens of a User-Agent header up to its first contact address or URL.
 *
 * `ClaudeBot/1.0 (+https://…)` gives `ClaudeBot/1.0`. Within a comment only a name with a version is a product.
 * @param {unknown} userAgent
 * @returns {string | null}
 */
export function userAgentHint(userAgent) {
  if (typeof userAgent !== 'string') {
    return null;
  }
  const text = userAgent.slice(0, contactStart(userAgent));
  const products = Array.from(text.matchAll(COMMENT_OR_PRODUCT), ([, comment, product]) =>
    product ? [product] : (comment.match(VERSIONED_PRODUCT) ?? []),
  );
  return cleanHint(products.flat().join(' '));
}

/**
 * Return the offset of the first contact, or the end of the text without one.
 *
 * Its mark is looked for first: one expression for both would try every character of a long word as a beginning.
 * @param {string} userAgent
 */
function contactStart(userAgent) {
  const mark = userAgent.search(CONTACT_MARK);
  let start = mark < 0 ? userAgent.length : mark;
  while (mark >= 0 && start > 0 && !CONTACT_EDGE.test(userAgent.charAt(start - 1))) {
    start -= 1;
  }
  return start;
}
