/** A limit for work that does not wait: a test's own time-out could not end it. */

import { runInNewContext } from 'node:vm';

/**
 * Return what a function returns; throw if it has not returned after ten seconds.
 * @template T
 * @param {() => T} work
 * @returns {T}
 */
export function bounded(work) {
  return runInNewContext('work()', { work }, { timeout: 10_000 });
}
