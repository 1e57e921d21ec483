/** Interaction ids: UUIDs of version 4 that begin with the time, so that the service's indexes grow at their end. */
/**
 * Return the first bytes of such an id of this moment.
 * @param {number} count
 * @returns {Uint8Array}
 */
export declare function timeOrderedBytes(count: number): Uint8Array;
/**
 * Return 48 bits of Unix time in milliseconds and then randomness, with the bits of version and variant set.
 * @param {number} milliseconds
 * @param {Uint8Array} randomness
 * @returns {Uint8Array}
 */
export declare function stampedBytes(milliseconds: number, randomness: Uint8Array): Uint8Array;
/**
 * Return the text of a UUID.
 * @param {Uint8Array} bytes the 16 bytes
 * @returns {string}
 */
export declare function formatUuid(bytes: Uint8Array): string;
/**
 * Return a new interaction id.
 * @returns {string}
 */
export declare function newInteractionId(): string;
