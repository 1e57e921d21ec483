/** The plugin for Fastify 5. */
export type Exchange = import('../exchange.js').Exchange;
/** @typedef {import('../exchange.js').Exchange} Exchange */
/**
 * Return the plugin.
 * @param {import('../instrumentation.js').Instrumentation} instrumentation
 * @returns {(instance: any, options: object, done: (error?: Error) => void) => void}
 */
export declare function fastifyAdapter(instrumentation: import('../instrumentation.js').Instrumentation): (instance: any, options: object, done: (error?: Error) => void) => void;
