/** Runtime hints: what a request says of the agent's software. */

import { contract } from './protocol.js';

const MAX_LENGTH = contract.runtimeHint.maxLength;
const TOKEN = "[A-Za-z0-9!#$%&'*+.^_`|~-]+";
// A mail address, a URL, or a host that begins with www; with what stands directly before it.
const CONTACT = /[^\s(),;]*(?:@|%40|:\/\/|\bwww\.)/i;
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
  const contact = userAgent.search(CONTACT);
  const text = contact < 0 ? userAgent : userAgent.slice(0, contact);
  const products = Array.from(text.matchAll(COMMENT_OR_PRODUCT), ([, comment, product]) =>
    product ? [product] : (comment.match(VERSIONED_PRODUCT) ?? []),
  );
  return cleanHint(products.flat().join(' '));
}
