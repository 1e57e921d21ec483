/** The adapter for handlers of `fetch` style: Hono, Next, workers. It uses only what the web platform has. */
export type Exchange = import('../exchange.js').Exchange;
export type HeaderChanges = import('../header_changes.js').HeaderChanges;
export type Instrumentation = import('../instrumentation.js').Instrumentation;
export type Handler = (request: Request, ...rest: any[]) => Response | Promise<Response>;
export type FetchSettings = {
    clientIp?: (request: Request, ...rest: any[]) => string | null | undefined;
    /**
     * waits for what goes on behind a response
     */
    settle: () => Promise<unknown>;
};
/** @typedef {import('../exchange.js').Exchange} Exchange */
/** @typedef {import('../header_changes.js').HeaderChanges} HeaderChanges */
/** @typedef {import('../instrumentation.js').Instrumentation} Instrumentation */
/** @typedef {(request: Request, ...rest: any[]) => Response | Promise<Response>} Handler */
/**
 * @typedef {object} FetchSettings
 * @property {(request: Request, ...rest: any[]) => string | null | undefined} [clientIp]
 * @property {() => Promise<unknown>} settle waits for what goes on behind a response
 */
/**
 * Wrap a handler.
 * @param {Instrumentation} instrumentation
 * @param {Handler} handler
 * @param {FetchSettings} settings
 * @returns {(this: any, ...parameters: any[]) => Promise<Response>}
 */
export declare function fetchAdapter(instrumentation: Instrumentation, handler: Handler, { clientIp, settle }: FetchSettings): (this: any, ...parameters: any[]) => Promise<Response>;
