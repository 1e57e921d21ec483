/** Product keys and company keys, which do not show their secret when they are printed, logged or serialized. */
declare const INSPECT: unique symbol;
/** A key that shows only the part which is no secret. */
declare class Key {
    #private;
    /**
     * @param {string} text
     * @param {RegExp} pattern
     * @param {string} shape
     */
    constructor(text: string, pattern: RegExp, shape: string);
    /** Return the key as text. */
    reveal(): string;
    toString(): string;
    toJSON(): string;
    [INSPECT](): string;
}
/** A product key: authenticates telemetry and signs capabilities. */
export declare class ProductKey extends Key {
    #private;
    /** The public part, by which the service finds the key. */
    id: string;
    /** What consent subjects are derived from; it stays when the key is replaced. */
    scope: string;
    /** @param {string} text */
    constructor(text: string);
    /**
     * Return the capability of claims.
     * @param {string} claims compact JSON
     * @returns {string}
     */
    sign(claims: string): string;
}
/** A company key: authenticates customer context. A product key with the right `company` is one too. */
export declare class CompanyKey extends Key {
    #private;
    /** @param {string} text */
    constructor(text: string);
    /**
     * Return the HMAC-SHA256 of a message under a secret derived from this key.
     * @param {Uint8Array} message
     * @returns {Uint8Array}
     */
    sign(message: Uint8Array): Uint8Array;
}
export {};
