/** What a failed request means. */
import { ServiceUnavailable } from '../errors.js';
/** The time of a request is up. */
export declare class DeadlinePassed extends Error {
    code: string;
}
/**
 * Return the error of this package for one of the runtime.
 *
 * @param {any} error
 * @param {boolean} [wasConnected] whether a connection was open, as far as that is known
 * @returns {ServiceUnavailable}
 */
export declare function unavailable(error: any, wasConnected?: boolean): ServiceUnavailable;
