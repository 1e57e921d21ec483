/** Which bodies the relay forwards, and its errors. */
/** An error that the relay itself answers with. */
export declare class RelayError extends Error {
    status: any;
    content: {
        error: string;
        code: any;
        retryable?: any;
    };
    /** @type {[string, string][]} */
    headers: [string, string][];
    /**
     * @param {string} kind its name in the contract
     * @param {string} [sentence]
     */
    constructor(kind: string, sentence?: string);
}
/**
 * Return the body for a relay path as JSON if it may be forwarded, or throw `RelayError`.
 * @param {string} path
 * @param {Uint8Array} bytes
 * @returns {string}
 */
export declare function readRelayBody(path: string, bytes: Uint8Array): string;
/** @param {string} sentence */
export declare function badBody(sentence: string): RelayError;
