/**
 * MCP servers on the official SDK: their business tools are wrapped, and the tools for agents are added.
 *
 * Whatever fails in here, a tool's result leaves as the tool made it. The SDK itself is not imported: the server is the
 * product's, and so is its version.
 */

import { Callbacks } from '../callbacks.js';
import { InvalidOption } from '../errors.js';
import { normalizeNamedOperation, normalizeOperation } from '../operation.js';
import { contract } from '../protocol.js';
import { WarnOnce, kindOf } from '../warn.js';
import { ToolCall } from './call.js';
import { isObject } from './results.js';

/** @typedef {(request: any, extra: any) => any} Handler */

const SURFACE = contract.mcp.surface;

/** Loaded with the first request: their schemas would make every product start later. */
const loadTools = () => import('./tools.js');

const INITIALIZE = 'initialize';
const LIST = 'tools/list';
const CALL = 'tools/call';

/** Pages of a server's own list that are read for a tool that has not been listed yet. */
const MAX_PAGES = 20;

/** @type {WeakSet<object>} */
const wrappedServers = new WeakSet();

/**
 * Wrap the tools of a server, those that are registered later too, and return it; once, however often called.
 *
 * @template Server
 * @param {{options: import('../options.js').Options} & Record<string, any>} feedback
 * @param {Server} server an `McpServer` or a `Server` of `@modelcontextprotocol/sdk`
 * @returns {Server}
 */
export function wrapServer(feedback, server) {
  const { isEnabled, mode } = feedback.options;
  const protocol = /** @type {any} */ (server)?.server ?? server;
  if (!(protocol?._requestHandlers instanceof Map) || typeof protocol.setRequestHandler !== 'function') {
    throw new InvalidOption('an McpServer or a Server of @modelcontextprotocol/sdk 1.x is needed');
  }
  if (isEnabled && mode !== 'off' && !wrappedServers.has(protocol)) {
    wrappedServers.add(protocol);
    new ToolWrapper(feedback, protocol).install();
  }
  return server;
}

/** Stands between a server and its handlers. */
class ToolWrapper {
  #feedback;
  #server;
  #callbacks;
  /** @type {Map<string, boolean>} whether each tool that was listed declares an output schema */
  #outputSchemas = new Map();
  /** @type {WeakSet<Handler>} */
  #own = new WeakSet();
  /** @type {string | null} */
  #version = null;
  #warnings = new WarnOnce();
  /** @type {Handler} */
  #list = () => ({ tools: [] });

  /**
   * @param {any} feedback
   * @param {any} server
   */
  constructor(feedback, server) {
    this.#feedback = feedback;
    this.#server = server;
    this.#callbacks = new Callbacks(feedback.options);
  }

  /** Wrap the handlers that there are, and those that are set later. */
  install() {
    const server = this.#server;
    const { setRequestHandler, sendToolListChanged } = server;
    server.setRequestHandler = (/** @type {unknown[]} */ ...parameters) => {
      const result = setRequestHandler.apply(server, parameters);
      this.#wrapHandlers();
      return result;
    };
    server.sendToolListChanged = (/** @type {unknown[]} */ ...parameters) => {
      this.#outputSchemas.clear();
      return sendToolListChanged.apply(server, parameters);
    };
    this.#wrapHandlers();
  }

  #wrapHandlers() {
    this.#wrap(INITIALIZE, (handler) => (request, extra) => this.#initialize(handler, request, extra));
    this.#wrap(LIST, (handler) => {
      this.#list = handler;
      return async (request, extra) => this.#addTools(await handler(request, extra));
    });
    this.#wrap(CALL, (handler) => (request, extra) => this.#call(handler, request, extra));
  }

  /**
   * @param {string} method
   * @param {(handler: Handler) => Handler} wrap
   */
  #wrap(method, wrap) {
    const handler = this.#server._requestHandlers.get(method);
    if (handler && !this.#own.has(handler)) {
      const wrapper = wrap(handler);
      this.#own.add(wrapper);
      this.#server._requestHandlers.set(method, wrapper);
    }
  }

  /**
   * @param {Handler} handler
   * @param {any} request
   * @param {any} extra
   */
  async #initialize(handler, request, extra) {
    const result = await handler(request, extra);
    this.#version = typeof result?.protocolVersion === 'string' ? result.protocolVersion : null;
    return result;
  }

  /** @param {any} page */
  async #addTools(page) {
    if (!Array.isArray(page?.tools)) {
      return page;
    }
    this.#remember(page.tools);
    const tools = page.tools.filter((/** @type {any} */ tool) => !isServiceTool(tool.name));
    const { describeTools } = await loadTools();
    return page.nextCursor ? page : { ...page, tools: [...tools, ...describeTools()] };
  }

  /** @param {any[]} tools */
  #remember(tools) {
    for (const tool of tools) {
      this.#outputSchemas.set(tool.name, isObject(tool.outputSchema));
    }
  }

  /**
   * @param {Handler} handler
   * @param {any} request
   * @param {any} extra
   */
  async #call(handler, request, extra) {
    const { name, arguments: callArguments } = request.params ?? {};
    if (isServiceTool(name)) {
      // The server refuses its list to whoever may not call its tools.
      await this.#readList(extra);
      const { callServiceTool } = await loadTools();
      return callServiceTool(name, callArguments, this.#feedback.options, extra?.signal);
    }
    const hasOutputSchema = await this.#findOutputSchema(name, extra);
    const call = hasOutputSchema === undefined ? null : this.#start(name, extra, hasOutputSchema);
    // Else it is no tool of this server, so nothing that was used; and its name is any text that a caller has chosen.
    return call === null ? handler(request, extra) : call.run(() => handler(request, extra));
  }

  /**
   * Tell whether a tool declares an output schema; undefined for a tool that the server does not list.
   *
   * @param {string} name
   * @param {any} extra
   */
  async #findOutputSchema(name, extra) {
    if (!this.#outputSchemas.has(name)) {
      try {
        await this.#readList(extra);
      } catch (error) {
        // The server's own list fails, and so will the call.
        this.#warn(error);
      }
    }
    return this.#outputSchemas.get(name);
  }

  /**
   * Read the server's own list as the client could.
   *
   * @param {any} extra
   */
  async #readList(extra) {
    /** @type {string | undefined} */
    let cursor;
    for (let pages = 0; pages < MAX_PAGES; pages += 1) {
      const page = await this.#list({ method: LIST, params: cursor === undefined ? {} : { cursor } }, extra);
      this.#remember(page?.tools ?? []);
      cursor = page?.nextCursor;
      if (!cursor) {
        break;
      }
    }
  }

  /**
   * Begin with a call; null where a callback of the company fails.
   *
   * @param {string} name
   * @param {any} extra
   * @param {boolean} hasOutputSchema
   */
  #start(name, extra, hasOutputSchema) {
    try {
      const operation = normalizeNamedOperation(name) ?? normalizeOperation(name);
      const references = this.#references(extra);
      const version = extra?.requestInfo?.headers?.['mcp-protocol-version'] ?? this.#version;
      const warn = (/** @type {unknown} */ error) => this.#warn(error);
      return new ToolCall(this.#feedback, { operation, references, extra, hasOutputSchema, version, warn });
    } catch (error) {
      this.#warn(error);
      return null;
    }
  }

  /**
   * Return what the callbacks say of a call; they take the SDK's `extra`.
   *
   * @param {any} extra
   */
  #references(extra) {
    const client = this.#server.getClientVersion?.();
    const clientName = client && (client.version ? `${client.name}/${client.version}` : client.name);
    const header = () => clientName ?? extra?.requestInfo?.headers?.['user-agent'] ?? null;
    const references = this.#callbacks.references(/** @type {any} */ ({ source: extra, header }));
    return references.runtimeHint ? { ...references, runtimeHintSource: SURFACE } : references;
  }

  /** @param {unknown} error in a callback of the company, or in this package */
  #warn(error) {
    const kind = kindOf(error);
    this.#warnings.warn(kind, `something was not added to a result (${kind}); results are as the tools made them`);
  }
}

/**
 * Tell whether a name is that of one of the tools for agents.
 * @param {unknown} name
 * @returns {name is string}
 */
function isServiceTool(name) {
  return contract.mcp.tools.includes(name);
}
