/** Which responses can carry an envelope, by their status and headers. */
export type HeaderPairs = readonly (readonly [string, unknown])[];
/** @typedef {readonly (readonly [string, unknown])[]} HeaderPairs names and values; a value may be a list */
/**
 * Return headers by their lower-case names; the values of a repeated one are joined with commas.
 * @param {HeaderPairs} pairs
 * @returns {Map<string, string>}
 */
export declare function indexHeaders(pairs: HeaderPairs): Map<string, string>;
/**
 * Return what a response is, or null where it passes untouched.
 * @param {number} status
 * @param {Map<string, string>} headers by lower-case names
 * @returns {'json' | 'html' | null}
 */
export declare function contentKind(status: number, headers: Map<string, string>): 'json' | 'html' | null;
