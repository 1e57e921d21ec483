/**
 * The HTTP client of this package: the global `fetch`, with one deadline, bounded answers and no redirects.
 */
export type HttpRequest = {
    method: string;
    /**
     * of the service, behind the path of the endpoint
     */
    path: string;
    /**
     * JSON
     */
    body?: string | Uint8Array | null;
    headers?: Record<string, string>;
    /**
     * from the look-up of the host to the last byte
     */
    timeoutMs: number;
    /**
     * ends the request earlier; its reason is thrown
     */
    signal?: AbortSignal;
};
/**
 * @typedef {object} HttpRequest
 * @property {string} method
 * @property {string} path of the service, behind the path of the endpoint
 * @property {string | Uint8Array | null} [body] JSON
 * @property {Record<string, string>} [headers]
 * @property {number} timeoutMs from the look-up of the host to the last byte
 * @property {AbortSignal} [signal] ends the request earlier; its reason is thrown
 */
/** An answer of the service. */
export declare class HttpResponse {
    status: number;
    text: string;
    headers: import("undici-types").Headers;
    /**
     * @param {number} status
     * @param {string} text the body
     * @param {Headers | Record<string, string>} [headers]
     */
    constructor(status: number, text: string, headers?: Headers | Record<string, string>);
    /**
     * Return the body as JSON, or undefined if it is none.
     *
     * @returns {unknown}
     */
    json(): unknown;
}
/** Sends requests to one origin. */
export declare class HttpClient {
    #private;
    /** @param {string} endpoint without a slash at its end */
    constructor(endpoint: string);
    /**
     * Send a request and return the answer, whatever its status.
     *
     * Throw `ServiceUnavailable` if none arrives, and `ServiceUnreachable` if no connection was opened.
     *
     * @param {HttpRequest} request
     * @returns {Promise<HttpResponse>}
     */
    request(request: HttpRequest): Promise<HttpResponse>;
}
/**
 * Return the bytes of a body, or null as soon as there are more than `limit`.
 *
 * @param {AsyncIterable<Uint8Array> | ReadableStream<Uint8Array> | null} body
 * @param {number} limit
 * @returns {Promise<Uint8Array | null>}
 */
export declare function readBounded(body: AsyncIterable<Uint8Array> | ReadableStream<Uint8Array> | null, limit: number): Promise<Uint8Array | null>;
