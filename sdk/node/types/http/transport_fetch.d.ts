/** Send requests with the global `fetch`, for runtimes other than Node. */
/**
 * Send a request once, or throw `ServiceUnavailable`, `ServiceUnreachable` where nothing was sent.
 *
 * @param {import('./client.js').TransportRequest} request
 * @returns {Promise<import('./client.js').TransportResponse>}
 */
export declare function send({ url, method, body, headers, maxResponseBytes, signal }: import('./client.js').TransportRequest): Promise<import('./client.js').TransportResponse>;
