/** The company's side: one object for each process that starts interactions and holds the queue, caches and clients. */

import { expressAdapter } from './adapters/express.js';
import { fastifyAdapter } from './adapters/fastify.js';
import { fetchAdapter } from './adapters/fetch.js';
import { httpAdapter } from './adapters/http.js';
import { Callbacks } from './callbacks.js';
import { ConsentCache } from './consent.js';
import { CustomerContext } from './context/index.js';
import { Instrumentation } from './instrumentation.js';
import { Interaction } from './interaction.js';
import { wrapServer } from './mcp/server.js';
import { readOptions } from './options.js';
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
export class AgentFeedback {
  #callbacks;
  #instrumentation;

  /** @param {import('./options.js').OptionSettings} [settings] */
  constructor(settings) {
    /** The options in force. */
    this.options = readOptions(settings);
    /** The queue of events. */
    this.telemetry = new TelemetryQueue(this.options);
    /** The cached decisions of customers. */
    this.consent = new ConsentCache(this.options);
    /** The client of customer context. */
    this.customerContext = CustomerContext.fromOptions(this.options);
    this.#callbacks = new Callbacks(this.options);
    this.#instrumentation = new Instrumentation(this, this.#callbacks, this.customerContext);
  }

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
  start(operation, { surface, interactionId, ...references } = {}) {
    const name = this.#callbacks.namedOperation(operation, operation);
    return new Interaction(this, name, this.#callbacks.members(references), { surface, interactionId });
  }

  /**
   * Return the middleware for Express 4 and 5, which goes before all others: `app.use(feedback.express())`.
   * @returns {(request: object, response: object, next: (error?: unknown) => void) => void}
   */
  express() {
    return expressAdapter(this.#instrumentation);
  }

  /**
   * Return the plugin for Fastify, which goes before all others: `app.register(feedback.fastify())`.
   * @returns {(instance: any, options: object, done: (error?: Error) => void) => void}
   */
  fastify() {
    return fastifyAdapter(this.#instrumentation);
  }

  /**
   * Wrap a handler of `fetch` style: `export default { fetch: feedback.fetch(handler) }`.
   * @template {(request: Request, ...rest: any[]) => Response | Promise<Response>} Handler
   * @param {Handler} handler
   * @param {{clientIp?: (request: Request, ...rest: any[]) => string | null | undefined}} [settings] the address of the
   *   peer, which only the platform knows; that of `@hono/node-server` is known
   * @returns {(...parameters: Parameters<Handler>) => Promise<Response>}
   */
  fetch(handler, settings = {}) {
    return fetchAdapter(this.#instrumentation, handler, { ...settings, settle: () => this.#settle() });
  }

  /**
   * Wrap a listener of `node:http`, `node:https` or `node:http2`: `createServer(feedback.http(listener))`.
   * @template {(request: any, response: any) => unknown} Listener
   * @param {Listener} listener
   * @returns {(request: Parameters<Listener>[0], response: Parameters<Listener>[1]) => void}
   */
  http(listener) {
    return httpAdapter(this.#instrumentation, listener);
  }

  /**
   * Wrap the tools of a server of the official MCP SDK, and return it: `feedback.mcp(server)`.
   * @template Server
   * @param {Server} server an `McpServer` or a `Server`
   * @returns {Server}
   */
  mcp(server) {
    return wrapServer(this, server);
  }

  /**
   * Send the queued telemetry; resolve to whether all of it was sent or dropped within `timeout` milliseconds.
   * @param {{timeout?: number}} [settings]
   * @returns {Promise<boolean>}
   */
  flush(settings) {
    return this.telemetry.flush(settings);
  }

  /**
   * Send the queued telemetry and stop; resolve to how many events were lost.
   * @param {{timeout?: number}} [settings]
   * @returns {Promise<number>}
   */
  shutdown(settings) {
    return this.telemetry.shutdown(settings);
  }

  /** Wait for what goes on behind a response, where the platform freezes the process after it. */
  async #settle() {
    await Promise.all([this.telemetry.flush(), this.consent.settle()]);
  }
}
