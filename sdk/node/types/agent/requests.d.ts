/** Requests of an agent: to its allowed origins only, bounded in time and size, without redirects. */
/** A longer response of a product is not read. */
export declare const MAX_PAGE_BYTES: number;
export type Page = {
    url: string;
    status: number;
    headers: Headers;
    text: string;
    /**
     * of the request
     */
    method: string;
    /**
     * credentials included
     */
    requestHeaders: Record<string, string>;
};
/**
 * @typedef {object} Page a response of a product, with the members that `fromResponse` and `discover` read
 * @property {string} url
 * @property {number} status
 * @property {Headers} headers
 * @property {string} text
 * @property {string} method of the request
 * @property {Record<string, string>} requestHeaders credentials included
 */
/**
 * Return a URL in its parts, or throw `InvalidOption`.
 * @param {string} url
 * @param {string} [base]
 * @returns {URL}
 */
export declare function parseUrl(url: string, base?: string): URL;
/**
 * Return the origin of a URL, or throw `InvalidOption`.
 * @param {string} url
 */
export declare function originOf(url: string): string;
/**
 * Tell whether a URL is https, or http on this machine, and without credentials.
 * @param {string} url
 */
export declare function isSafe(url: string): any;
/**
 * Return the URL of another path of the contract, given the URL of an action.
 * @param {string} url
 * @param {string} path its name in the contract
 */
export declare function serviceUrl(url: string, path: string): string;
/**
 * Post and resolve to the JSON object of a 200; reject with `ServiceRefused` or `ServiceUnavailable`.
 *
 * A 5xx or a network error is tried once more.
 * @param {string} url
 * @param {string} authorization
 * @param {unknown} body
 * @param {{timeoutMs?: number, signal?: AbortSignal}} [options]
 * @returns {Promise<Record<string, any>>}
 */
export declare function post(url: string, authorization: string, body: unknown, options?: {
    timeoutMs?: number;
    signal?: AbortSignal;
}): Promise<Record<string, any>>;
/**
 * Get, as `post` posts.
 * @param {string} url
 * @param {string} authorization
 * @param {{timeoutMs?: number, signal?: AbortSignal}} [options]
 * @returns {Promise<Record<string, any>>}
 */
export declare function get(url: string, authorization: string, options?: {
    timeoutMs?: number;
    signal?: AbortSignal;
}): Promise<Record<string, any>>;
/**
 * Request a page of a product as an agent does, once and without a body, and resolve to it whatever its status.
 *
 * Reject with `InvalidOption` for a URL or headers that cannot be used, with `ServiceUnavailable` without an answer.
 * @param {string} url
 * @param {{headers?: Record<string, string>, method?: string, signal?: AbortSignal}} [options]
 * @returns {Promise<Page>}
 */
export declare function fetchPage(url: string, { headers, method, signal }?: {
    headers?: Record<string, string>;
    method?: string;
    signal?: AbortSignal;
}): Promise<Page>;
/**
 * Return headers that may be sent, or throw `InvalidOption`.
 * @param {Record<string, string>} headers
 */
export declare function checkHeaders(headers: Record<string, string>): Record<string, string>;
