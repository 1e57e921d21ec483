/** Which paths of a product carry envelopes. */

import { contract } from './protocol.js';

/** Path patterns: `*` is any number of characters other than `/`, `**` any number of characters. */
export class PathRules {
  #include;
  #exclude;

  /**
   * @param {readonly string[]} include
   * @param {readonly string[]} exclude
   */
  constructor(include, exclude) {
    this.#include = compile(include);
    this.#exclude = compile([...contract.exclusions, ...exclude]);
  }

  /**
   * Tell whether a path is included and not excluded.
   * @param {string} path
   * @returns {boolean}
   */
  covers(path) {
    return this.#include.test(path) && !this.#exclude.test(path);
  }
}

/**
 * Return one expression for all patterns, since every request of the product is matched.
 * @param {readonly string[]} patterns
 */
function compile(patterns) {
  // Without patterns, `(?!)` matches nothing.
  return new RegExp(`^(?:${patterns.map(expression).join('|') || '(?!)'})$`, 's');
}

/** @param {string} pattern */
function expression(pattern) {
  const wildcards = /** @type {Record<string, string>} */ ({ '**': '.*', '*': '[^/]*' });
  return pattern
    .split(/(\*\*|\*)/)
    .map((part) => wildcards[part] ?? part.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'))
    .join('');
}
