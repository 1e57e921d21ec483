/**
 * The MCP server of a person's own agent; imported only where the official SDK is installed.
 *
 * It acts only on envelopes that it has parsed itself, from a page that it has fetched or a text that it was given, and
 * tells the agent the protocol's instructions, whatever the product has written in their place.
 */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
/**
 * Serve the tools over standard input and output until the client ends.
 *
 * @param {string[]} allowedOrigins
 * @returns {Promise<void>}
 */
export declare function serve(allowedOrigins: string[]): Promise<void>;
/**
 * Return the server with its tools, which send to these origins only.
 *
 * @param {string[]} allowedOrigins
 */
export declare function makeServer(allowedOrigins: string[]): Server<{
    method: string;
    params?: {
        [x: string]: unknown;
        _meta?: {
            [x: string]: unknown;
            progressToken?: string | number | undefined;
            "io.modelcontextprotocol/related-task"?: {
                taskId: string;
            } | undefined;
        } | undefined;
    } | undefined;
}, {
    method: string;
    params?: {
        [x: string]: unknown;
        _meta?: {
            [x: string]: unknown;
            progressToken?: string | number | undefined;
            "io.modelcontextprotocol/related-task"?: {
                taskId: string;
            } | undefined;
        } | undefined;
    } | undefined;
}, {
    [x: string]: unknown;
    _meta?: {
        [x: string]: unknown;
        progressToken?: string | number | undefined;
        "io.modelcontextprotocol/related-task"?: {
            taskId: string;
        } | undefined;
    } | undefined;
}>;
