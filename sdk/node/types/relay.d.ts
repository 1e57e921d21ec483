/** The relay: forwards an agent's handle and allowlisted body from the company's own origin to the service. */
export type ByteSource = AsyncIterable<Uint8Array> | ReadableStream<Uint8Array> | null;
export type RelayRequest = {
    method: string;
    /**
     * without the mount
     */
    path: string;
    /**
     * the path under which the product is mounted, or an empty text
     */
    mount?: string;
    header: (name: string) => string | null | undefined;
    /**
     * is read up to its bound
     */
    body: ByteSource;
};
export type RelayResponse = {
    status: number;
    headers: [string, string][];
    body: Uint8Array;
};
/** @typedef {AsyncIterable<Uint8Array> | ReadableStream<Uint8Array> | null} ByteSource */
/**
 * @typedef {object} RelayRequest a request for the relay, of whichever framework
 * @property {string} method
 * @property {string} path without the mount
 * @property {string} [mount] the path under which the product is mounted, or an empty text
 * @property {(name: string) => string | null | undefined} header
 * @property {ByteSource} body is read up to its bound
 */
/**
 * @typedef {object} RelayResponse
 * @property {number} status
 * @property {[string, string][]} headers
 * @property {Uint8Array} body
 */
/**
 * Point every action of an answer to the relay; an action that the relay does not forward becomes null.
 * @param {unknown} value JSON
 * @param {string} [mount]
 * @returns {unknown}
 */
export declare function rewriteUrls(value: unknown, mount?: string): unknown;
/**
 * Tell whether a text is a handle.
 * @param {string} text
 */
export declare function isHandle(text: string): boolean;
/** Answers everything under the relay's prefix. */
export declare class Relay {
    #private;
    /** @param {{endpoint: string, relayTimeout: number}} options */
    constructor({ endpoint, relayTimeout }: {
        endpoint: string;
        relayTimeout: number;
    });
    /**
     * Tell whether a path, without the mount, is the relay's.
     * @param {string} path
     */
    serves(path: string): boolean;
    /**
     * Answer an agent's request, which the product's own code never sees.
     * @param {RelayRequest} request
     * @returns {Promise<RelayResponse>}
     */
    answer(request: RelayRequest): Promise<RelayResponse>;
}
/**
 * Return the JSON object of an answer that is passed on, or throw `RelayError`.
 * @param {import('./http/client.js').HttpResponse} response
 */
export declare function readAnswer(response: import('./http/client.js').HttpResponse): object;
