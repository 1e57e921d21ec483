/** What the adapters for Node's servers share: they read a request, and answer for the relay. */
export type Relay = import('../relay.js').Relay;
export type Request = import('../request.js').Request;
/** @typedef {import('../relay.js').Relay} Relay */
/** @typedef {import('../request.js').Request} Request */
/**
 * Return what the SDK needs to know of a request.
 * @param {any} message the request of `node:http` or `node:http2`
 * @param {object} [details]
 * @param {string} [details.target] path and query, where the framework has cut the message's own
 * @param {string} [details.mount]
 * @param {object} [details.source] the framework's request
 * @param {() => string | null | undefined} [details.clientIp]
 * @returns {Request}
 */
export declare function readMessage(message: any, { target, mount, source, clientIp }?: {
    target?: string;
    mount?: string;
    source?: object;
    clientIp?: () => string | null | undefined;
}): Request;
/**
 * Answer a request that is the relay's.
 * @param {Relay} relay
 * @param {Request} request
 * @param {string} path without the mount
 * @param {any} message
 * @param {any} response
 */
export declare function answerRelay(relay: Relay, request: Request, path: string, message: any, response: any): void;
