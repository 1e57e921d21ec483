/** Responses of Node's servers, which are held until it is clear what they become. */
export type Call = [string, any[]];
export type Exchange = import('../exchange.js').Exchange;
export type Modification = import('../instrumentation.js').Modification;
export type ResponseHead = import('../instrumentation.js').ResponseHead;
/**
 * Hold a response until it is complete, or known to pass untouched.
 * @param {any} response
 * @param {Exchange} exchange
 */
export declare function holdResponse(response: any, exchange: Exchange): void;
