/**
 * MCP servers on the official SDK: their business tools are wrapped, and the tools for agents are added.
 *
 * Whatever fails in here, a tool's result leaves as the tool made it. The SDK itself is not imported: the server is the
 * product's, and so is its version.
 */
export type Handler = (request: any, extra: any) => any;
/**
 * Wrap the tools of a server, those that are registered later too, and return it; once, however often called.
 *
 * @template Server
 * @param {{options: import('../options.js').Options} & Record<string, any>} feedback
 * @param {Server} server an `McpServer` or a `Server` of `@modelcontextprotocol/sdk`
 * @returns {Server}
 */
export declare function wrapServer<Server>(feedback: {
    options: import('../options.js').Options;
} & Record<string, any>, server: Server): Server;
