/** Calls for customer context: bounded in time, failing open, behind a circuit breaker, with few warnings. */
export type JsonObject = Record<string, any>;
export type ContextAccess = {
    key: {
        reveal(): string;
    } | null;
    endpoint: string;
    /**
     * in milliseconds, for a whole call
     */
    timeout: number;
    isEnabled: boolean;
};
export type ContextCall = {
    method: string;
    path: string;
    body?: JsonObject;
};
export type CallOptions = {
    /**
     * whether the call rejects with its error instead of failing open
     */
    raiseErrors?: boolean | undefined;
    /**
     * of this call, in milliseconds
     */
    timeout?: number | undefined;
    signal?: AbortSignal | undefined;
};
/** @typedef {Record<string, any>} JsonObject */
/**
 * @typedef {object} ContextAccess where customer context is, and the key to it
 * @property {{reveal(): string} | null} key
 * @property {string} endpoint
 * @property {number} timeout in milliseconds, for a whole call
 * @property {boolean} isEnabled
 */
/**
 * @typedef {object} ContextCall one request; members of the body that are null or undefined are omitted
 * @property {string} method
 * @property {string} path
 * @property {JsonObject} [body]
 */
/**
 * @typedef {object} CallOptions
 * @property {boolean | undefined} [raiseErrors] whether the call rejects with its error instead of failing open
 * @property {number | undefined} [timeout] of this call, in milliseconds
 * @property {AbortSignal | undefined} [signal]
 */
/** Calls the service on behalf of the company. */
export declare class ContextClient {
    #private;
    /** @param {ContextAccess} access */
    constructor(access: ContextAccess);
    /**
     * Resolve to what `parse` makes of the service's answer, or to `fallback` after an error.
     *
     * @template T
     * @param {ContextCall} call
     * @param {(content: JsonObject) => T} parse
     * @param {T} fallback
     * @param {CallOptions} options
     * @returns {Promise<T>}
     */
    call<T>(call: ContextCall, parse: (content: JsonObject) => T, fallback: T, options: CallOptions): Promise<T>;
}
