/** The company's side: one object for each process that starts interactions and holds the queue, caches and clients. */
import { ConsentCache } from './consent.js';
import { CustomerContext } from './context/index.js';
import { Interaction } from './interaction.js';
import { TelemetryQueue } from './telemetry/queue.js';
/**
 * The entry point of this package for a product; make one for each process.
 *
 *     const feedback = new AgentFeedback();
 *     app.use(feedback.express());
 *
 * Key and endpoint come from options or from the environment (AGENT_FEEDBACK_KEY, AGENT_FEEDBACK_URL). With a company key
 * (AGENT_FEEDBACK_COMPANY_KEY), `customerContext` can request context from agents.
 */
export declare class AgentFeedback {
    #private;
    /** The options in force. */
    options: Readonly<import("./options.js").Options>;
    /** The queue of events. */
    telemetry: TelemetryQueue;
    /** The cached decisions of customers. */
    consent: ConsentCache;
    /** The client of customer context. */
    customerContext: CustomerContext;
    /** @param {import('./options.js').OptionSettings} [settings] */
    constructor(settings?: import('./options.js').OptionSettings);
    /**
     * Start an interaction: what an adapter does for each response, for a product that has none.
     * @param {string} operation names the kind of the request, without anything of a person
     * @param {object} [details]
     * @param {string} [details.customerRef] the product's own id of the customer
     * @param {string} [details.sessionRef]
     * @param {string} [details.runtimeHint]
     * @param {import('./interaction.js').Surface} [details.surface]
     * @param {string} [details.interactionId]
     * @returns {Interaction}
     */
    start(operation: string, { surface, interactionId, ...references }?: {
        customerRef?: string;
        sessionRef?: string;
        runtimeHint?: string;
        surface?: import('./interaction.js').Surface;
        interactionId?: string;
    }): Interaction;
    /**
     * Return the middleware for Express 4 and 5, which goes before all others: `app.use(feedback.express())`.
     * @returns {(request: object, response: object, next: (error?: unknown) => void) => void}
     */
    express(): (request: object, response: object, next: (error?: unknown) => void) => void;
    /**
     * Return the plugin for Fastify, which goes before all others: `app.register(feedback.fastify())`.
     * @returns {(instance: any, options: object, done: (error?: Error) => void) => void}
     */
    fastify(): (instance: any, options: object, done: (error?: Error) => void) => void;
    /**
     * Wrap a handler of `fetch` style: `export default { fetch: feedback.fetch(handler) }`.
     * @template {(request: Request, ...rest: any[]) => Response | Promise<Response>} Handler
     * @param {Handler} handler
     * @param {{clientIp?: (request: Request, ...rest: any[]) => string | null | undefined}} [settings] the address of the
     *   peer, which only the platform knows; that of `@hono/node-server` is known
     * @returns {(...parameters: Parameters<Handler>) => Promise<Response>}
     */
    fetch<Handler extends (request: Request, ...rest: any[]) => Response | Promise<Response>>(handler: Handler, settings?: {
        clientIp?: (request: Request, ...rest: any[]) => string | null | undefined;
    }): (...parameters: Parameters<Handler>) => Promise<Response>;
    /**
     * Wrap a listener of `node:http`, `node:https` or `node:http2`: `createServer(feedback.http(listener))`.
     * @template {(request: any, response: any) => unknown} Listener
     * @param {Listener} listener
     * @returns {(request: Parameters<Listener>[0], response: Parameters<Listener>[1]) => void}
     */
    http<Listener extends (request: any, response: any) => unknown>(listener: Listener): (request: Parameters<Listener>[0], response: Parameters<Listener>[1]) => void;
    /**
     * Wrap the tools of a server of the official MCP SDK, and return it: `feedback.mcp(server)`.
     * @template Server
     * @param {Server} server an `McpServer` or a `Server`
     * @returns {Server}
     */
    mcp<Server>(server: Server): Server;
    /**
     * Send the queued telemetry; resolve to whether all of it was sent or dropped within `timeout` milliseconds.
     * @param {{timeout?: number}} [settings]
     * @returns {Promise<boolean>}
     */
    flush(settings?: {
        timeout?: number;
    }): Promise<boolean>;
    /**
     * Send the queued telemetry and stop; resolve to how many events were lost.
     * @param {{timeout?: number}} [settings]
     * @returns {Promise<number>}
     */
    shutdown(settings?: {
        timeout?: number;
    }): Promise<number>;
}
