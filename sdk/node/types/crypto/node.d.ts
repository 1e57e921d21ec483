/** SHA-256, HMAC and randomness of Node. */
/**
 * Return the SHA-256 digest of bytes, or of a text's UTF-8.
 * @param {string | Uint8Array} message
 * @returns {Uint8Array}
 */
export declare function sha256(message: string | Uint8Array): Uint8Array;
/**
 * Return the HMAC-SHA256 of bytes, or of a text's UTF-8.
 * @param {Uint8Array} key
 * @param {string | Uint8Array} message
 * @returns {Uint8Array}
 */
export declare function hmacSha256(key: Uint8Array, message: string | Uint8Array): Uint8Array;
/**
 * Return random bytes; one call of the system serves many responses.
 * @param {number} count
 * @returns {Uint8Array}
 */
export declare function randomBytes(count: number): Uint8Array;
