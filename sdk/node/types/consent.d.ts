/**
 * The cache of customers' consent decisions: the response path reads memory only.
 *
 * A miss returns an unknown decision at once, and the service is asked in the background for the next response.
 */
export type CachedDecision = {
    /**
     * `unknown`, `approved` or `declined`
     */
    state: string;
    revision: number;
    /**
     * on the monotonic clock
     */
    expiresAt: number;
};
/**
 * @typedef {object} CachedDecision
 * @property {string} state `unknown`, `approved` or `declined`
 * @property {number} revision
 * @property {number} expiresAt on the monotonic clock
 */
/** @type {CachedDecision} */
export declare const UNKNOWN: CachedDecision;
export type ConsentOptions = {
    apiKey: {
        reveal(): string;
    };
    endpoint: string;
    timeout: number;
    consentCacheSize: number;
    consentCacheTtl: number;
};
/**
 * @typedef {object} ConsentOptions
 * @property {{reveal(): string}} apiKey
 * @property {string} endpoint
 * @property {number} timeout
 * @property {number} consentCacheSize
 * @property {number} consentCacheTtl
 */
/** The decisions that this process has cached, at most `consentCacheSize`. */
export declare class ConsentCache {
    #private;
    /** @param {ConsentOptions} options */
    constructor(options: ConsentOptions);
    /**
     * Return the cached decision of a subject, expired or unknown as it may be, and refresh it if it is.
     *
     * @param {string} subject
     * @returns {CachedDecision}
     */
    find(subject: string): CachedDecision;
    /** Wait until no decision is being asked for, as is needed where a process is frozen after its response. */
    settle(): Promise<void>;
}
