/** The adapter for listeners of `node:http`, `node:https` and the compatibility API of `node:http2`. */
import { readMessage } from './http_request.js';
export type Exchange = import('../exchange.js').Exchange;
export type Instrumentation = import('../instrumentation.js').Instrumentation;
/** @typedef {import('../exchange.js').Exchange} Exchange */
/** @typedef {import('../instrumentation.js').Instrumentation} Instrumentation */
/**
 * Wrap a listener: eligible responses carry an envelope, and the context action that the product requests.
 * @param {Instrumentation} instrumentation
 * @param {(request: any, response: any) => unknown} listener
 * @returns {(this: any, request: any, response: any) => unknown}
 */
export declare function httpAdapter(instrumentation: Instrumentation, listener: (request: any, response: any) => unknown): (this: any, request: any, response: any) => unknown;
/**
 * Instrument one request of Node's servers; tell whether the relay answers it.
 * @param {Instrumentation} instrumentation
 * @param {any} message
 * @param {any} response
 * @param {Parameters<typeof readMessage>[1] & {path?: string, keep: (exchange: Exchange) => void}} details `path` is without
 *   the mount; `keep` is given the exchange of a response that may be changed
 * @returns {boolean}
 */
export declare function instrument(instrumentation: Instrumentation, message: any, response: any, { path, keep, ...details }: Parameters<typeof readMessage>[1] & {
    path?: string;
    keep: (exchange: Exchange) => void;
}): boolean;
