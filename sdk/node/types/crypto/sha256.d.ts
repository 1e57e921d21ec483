/**
 * SHA-256 (FIPS 180-4), for platforms whose own digest only comes as a promise: an envelope is made while a response is
 * written, and cannot wait.
 */
/**
 * Return the digest of bytes.
 * @param {Uint8Array} message
 * @returns {Uint8Array}
 */
export declare function digest(message: Uint8Array): Uint8Array;
/**
 * Return the HMAC of bytes (RFC 2104).
 * @param {Uint8Array} key
 * @param {Uint8Array} message
 * @returns {Uint8Array}
 */
export declare function hmac(key: Uint8Array, message: Uint8Array): Uint8Array;
