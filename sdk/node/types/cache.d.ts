/** What the cache mode allows: a shared cache that stored a capability would hand it to others. */
export type CacheFacts = {
    cacheMode: 'safe' | 'private' | 'request';
    /**
     * of the response, by lower-case names
     */
    headers: Map<string, string>;
    method: string;
    /**
     * path and query of the request line
     */
    target: string;
    /**
     * the request's header `Agent-Feedback-Request`
     */
    request: string | null;
};
/**
 * @typedef {object} CacheFacts
 * @property {'safe' | 'private' | 'request'} cacheMode
 * @property {Map<string, string>} headers of the response, by lower-case names
 * @property {string} method
 * @property {string} target path and query of the request line
 * @property {string | null} request the request's header `Agent-Feedback-Request`
 */
/**
 * Return whether a response that is eligible gets an envelope, and the headers that the cache mode adds.
 * @param {CacheFacts} facts
 * @returns {{hasEnvelope: boolean, addedHeaders: [string, string][]}}
 */
export declare function applyCacheMode({ cacheMode, headers, method, target, request }: CacheFacts): {
    hasEnvelope: boolean;
    addedHeaders: [string, string][];
};
