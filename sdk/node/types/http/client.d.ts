/** The HTTP client of this package: one deadline, bounded answers, no redirects. */
export type HttpRequest = {
    method: string;
    /**
     * of the service, behind the path of the endpoint
     */
    path: string;
    /**
     * JSON
     */
    body?: string | null;
    headers?: Record<string, string>;
    /**
     * from the look-up of the host to the last byte
     */
    timeoutMs: number;
    maxResponseBytes?: number;
    /**
     * ends the request earlier; its reason is thrown
     */
    signal?: AbortSignal;
};
export type TransportRequest = {
    url: string;
    method: string;
    body: string | null;
    /**
     * by lower-case names
     */
    headers: Record<string, string>;
    maxResponseBytes: number;
    signal: AbortSignal;
};
export type TransportResponse = {
    status: number;
    bytes: Uint8Array;
    /**
     * by lower-case names; the values of a repeated one are joined with commas
     */
    headers: Record<string, string>;
};
/**
 * @typedef {object} HttpRequest
 * @property {string} method
 * @property {string} path of the service, behind the path of the endpoint
 * @property {string | null} [body] JSON
 * @property {Record<string, string>} [headers]
 * @property {number} timeoutMs from the look-up of the host to the last byte
 * @property {number} [maxResponseBytes]
 * @property {AbortSignal} [signal] ends the request earlier; its reason is thrown
 */
/**
 * @typedef {object} TransportRequest what a transport sends
 * @property {string} url
 * @property {string} method
 * @property {string | null} body
 * @property {Record<string, string>} headers by lower-case names
 * @property {number} maxResponseBytes
 * @property {AbortSignal} signal
 */
/**
 * @typedef {object} TransportResponse
 * @property {number} status
 * @property {Uint8Array} bytes
 * @property {Record<string, string>} headers by lower-case names; the values of a repeated one are joined with commas
 */
/** An answer of the service. */
export declare class HttpResponse {
    #private;
    status: number;
    text: string;
    /**
     * @param {number} status
     * @param {string} text the body
     * @param {Record<string, string>} [headers] by lower-case names
     */
    constructor(status: number, text: string, headers?: Record<string, string>);
    /** All headers, by lower-case names. */
    get headers(): {
        [x: string]: string;
    };
    /**
     * Return a header, or null.
     *
     * @param {string} name
     * @returns {string | null}
     */
    header(name: string): string | null;
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
