/** Read the members that a product adds to its responses: in a header, in JSON or in HTML. */
export type JsonObject = Record<string, any>;
export type AgentResponse = Response | import('./requests.js').Page | Uint8Array | string | JsonObject;
export type ReadResponse = {
    body: string | JsonObject;
    headers: Headers | null;
    url: string;
};
export type Members = {
    envelope: JsonObject | null;
    /**
     * where the envelope is: `header`, `json` or `html`
     */
    place: string | null;
    context: JsonObject | null;
};
/**
 * @typedef {Record<string, any>} JsonObject
 * @typedef {Response | import('./requests.js').Page | Uint8Array | string | JsonObject} AgentResponse
 */
/**
 * @typedef {object} ReadResponse
 * @property {string | JsonObject} body
 * @property {Headers | null} headers
 * @property {string} url
 */
/**
 * @typedef {object} Members what a response holds for an agent
 * @property {JsonObject | null} envelope
 * @property {string | null} place where the envelope is: `header`, `json` or `html`
 * @property {JsonObject | null} context
 */
/**
 * Resolve to the body, the headers and the URL of a response; one of `fetch` is read from a copy.
 *
 * @param {AgentResponse} response
 * @returns {Promise<ReadResponse>}
 */
export declare function readResponse(response: AgentResponse): Promise<ReadResponse>;
/**
 * Tell whether a response is one of `fetch`; there may be several of its classes in a process.
 *
 * @param {AgentResponse} response
 * @returns {response is Response}
 */
export declare function isFetchResponse(response: AgentResponse): response is Response;
/**
 * Return the members of a response.
 *
 * @param {string | JsonObject} body
 * @param {Headers | null} headers
 * @returns {Members}
 */
export declare function readMembers(body: string | JsonObject, headers: Headers | null): Members;
