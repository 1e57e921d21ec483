/** Percent-encoding of paths. */
/**
 * Return decoded text: `%` without two hexadecimal digits stands for itself, bytes that are no UTF-8 become U+FFFD.
 * @param {string} text
 * @returns {string}
 */
export declare function percentDecode(text: string): string;
/**
 * Return the percent-encoded UTF-8 of a text, in upper case.
 * @param {string} text
 * @returns {string}
 */
export declare function percentEncode(text: string): string;
