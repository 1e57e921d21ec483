/** Instants as ISO 8601 in UTC. */
/**
 * Return an instant, given in milliseconds since 1970, with milliseconds.
 * @param {number} milliseconds
 * @returns {string}
 */
export declare function timestamp(milliseconds: number): string;
/**
 * Return an instant, given in whole seconds since 1970.
 * @param {number} seconds
 * @returns {string}
 */
export declare function wholeTimestamp(seconds: number): string;
