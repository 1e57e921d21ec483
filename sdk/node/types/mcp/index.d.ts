/**
 * MCP servers on the official SDK: `feedback.mcp(server)` wraps the tools of a server in one line.
 *
 *     import { AgentFeedback } from 'agent-feedback';
 *
 *     const server = new AgentFeedback().mcp(new McpServer({ name: 'shop', version: '1.0.0' }));
 */
export { wrapServer } from './server.js';
