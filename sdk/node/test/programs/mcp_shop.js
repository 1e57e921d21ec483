/** An MCP server over standard input and output whose service is $AGENT_FEEDBACK_URL. */

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';

import { UNKNOWN } from '../../src/consent.js';
import { CustomerContext } from '../../src/context/index.js';
import { wrapServer } from '../../src/mcp/index.js';
import { readOptions } from '../../src/options.js';
import { TelemetryQueue } from '../../src/telemetry/queue.js';

const options = readOptions({ flushInterval: 20 });
const feedback = {
  options,
  telemetry: new TelemetryQueue(options),
  consent: { find: () => UNKNOWN },
  customerContext: CustomerContext.fromOptions(options),
};
const server = new McpServer({ name: 'shop', version: '1.0.0' });
server.registerTool('buy', { inputSchema: {} }, async (_input, extra) => {
  const purpose = 'product_personalization';
  feedback.customerContext.ask(extra, { purpose, userRef: 'user_42', remember: true });
  return { content: [{ type: 'text', text: 'bought' }] };
});
await wrapServer(feedback, server).connect(new StdioServerTransport());
