/** The middleware for Express 4 and 5. */
/**
 * Return the middleware.
 * @param {import('../instrumentation.js').Instrumentation} instrumentation
 * @returns {(request: any, response: any, next: (error?: unknown) => void) => void}
 */
export declare function expressAdapter(instrumentation: import('../instrumentation.js').Instrumentation): (request: any, response: any, next: (error?: unknown) => void) => void;
