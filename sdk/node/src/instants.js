/** Instants as ISO 8601 in UTC. */

/**
 * Return an instant, given in milliseconds since 1970, with milliseconds.
 * @param {number} milliseconds
 * @returns {string}
 */
export function timestamp(milliseconds) {
  return new Date(milliseconds).toISOString();
}

/**
 * Return an instant, given in whole seconds since 1970.
 * @param {number} seconds
 * @returns {string}
 */
export function wholeTimestamp(seconds) {
  return `${timestamp(seconds * 1000).slice(0, -5)}Z`;
}
