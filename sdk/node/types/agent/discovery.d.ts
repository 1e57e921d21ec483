/** Follow the `Link` by which a product offers its envelope to agents that ask for it. */
export type DiscoverOptions = {
    allowedOrigins: readonly string[];
    /**
     * of the request; a page of `fetchPage` has it itself
     */
    method?: string;
    /**
     * of the request, credentials included; as above
     */
    headers?: Record<string, string>;
    signal?: AbortSignal;
};
/**
 * @typedef {object} DiscoverOptions
 * @property {readonly string[]} allowedOrigins
 * @property {string} [method] of the request; a page of `fetchPage` has it itself
 * @property {Record<string, string>} [headers] of the request, credentials included; as above
 * @property {AbortSignal} [signal]
 */
/**
 * Resolve to what a response holds, or else what the product sends when it is asked with `Agent-Feedback-Request`.
 *
 * The request is sent at most once, and only if the response has the link for it: to the same origin, with the same
 * method and headers, without a body; a redirect is not followed. Null without an envelope; `ServiceUnavailable` if the
 * product does not answer.
 * @param {Response | import('./requests.js').Page} response
 * @param {DiscoverOptions} options
 */
export declare function discover(response: Response | import('./requests.js').Page, { allowedOrigins, method, headers, signal }: DiscoverOptions): Promise<import("./received.js").Received | null>;
/**
 * Send the request that a response's link asks for, and resolve to its answer; to null without such a link.
 *
 * @param {Response | import('./requests.js').Page} response
 * @param {{method?: string | undefined, headers?: Record<string, string> | undefined, signal?: AbortSignal | undefined}} [options]
 */
export declare function requestEnvelope(response: Response | import('./requests.js').Page, options?: {
    method?: string | undefined;
    headers?: Record<string, string> | undefined;
    signal?: AbortSignal | undefined;
}): Promise<import("./requests.js").Page | null>;
/**
 * Return the URL of a response's link to its envelope, or null without one of the same origin.
 *
 * @param {string} header
 * @param {string} responseUrl
 */
export declare function findTarget(header: string, responseUrl: string): string | null;
/**
 * Return the links of a `Link` header (RFC 8288), with their parameters by lower-cased names.
 *
 * @param {string} header
 */
export declare function readLinks(header: string): Generator<{
    target: string;
    parameters: Map<string, string>;
}, void, unknown>;
