/** Base64url without padding (RFC 4648, section 5). */
/**
 * Return bytes as text.
 * @param {Uint8Array} bytes
 * @returns {string}
 */
export declare function encodeBase64url(bytes: Uint8Array): string;
/**
 * Return the bytes of a text, or null if it is no base64url.
 * @param {string} text
 * @returns {Uint8Array | null}
 */
export declare function decodeBase64url(text: string): Uint8Array | null;
