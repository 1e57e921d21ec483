/**
 * The MCP server of a person's own agent; imported only where the official SDK is installed.
 *
 * It acts only on envelopes that it has parsed itself, from a page that it has fetched or a text that it was given, and
 * tells the agent the protocol's instructions, whatever the product has written in their place.
 */

import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

import { InvalidOption, ServiceError, ServiceUnavailable } from '../errors.js';
import { contract, instructions } from '../protocol.js';
import { VERSION } from '../version.js';
import { AgentTools } from './mcp_tools.js';
import { reasonOf } from './terminal.js';

const TEXTS = instructions.agentServer;
const ID = { type: 'string' };
const OBJECT = { type: 'object' };
const PREVIEW = { type: 'boolean', default: false };

/**
 * The arguments of each tool.
 *
 * @type {Record<string, {required?: string[], properties: Record<string, unknown>}>}
 */
const ARGUMENTS = {
  inspect_product_feedback: {
    properties: {
      url: { type: 'string' },
      headers: { type: 'object', additionalProperties: { type: 'string' } },
      response: { anyOf: [{ type: 'string' }, { type: 'object' }, { type: 'array' }] },
    },
  },
  decide_product_feedback: {
    required: ['envelopeId', 'decision'],
    properties: {
      envelopeId: ID,
      decision: { type: 'string', enum: contract.decisionBody.decision },
      userAskedToChange: { type: 'boolean', default: false },
    },
  },
  submit_product_outcome: {
    required: ['envelopeId', 'outcome', 'note'],
    properties: {
      envelopeId: ID,
      outcome: { type: 'string', enum: contract.outcomeBody.outcome },
      note: { type: 'string' },
      preview: PREVIEW,
    },
  },
  submit_product_report: {
    required: ['envelopeId', 'report'],
    properties: { envelopeId: ID, report: OBJECT, preview: PREVIEW },
  },
  answer_customer_context: {
    required: ['envelopeId', 'items'],
    properties: {
      envelopeId: ID,
      items: { type: 'array', items: OBJECT },
      status: { type: 'string', enum: ['answered', 'declined', 'no_relevant_context'], default: 'answered' },
    },
  },
};

/**
 * Serve the tools over standard input and output until the client ends.
 *
 * @param {string[]} allowedOrigins
 * @returns {Promise<void>}
 */
export async function serve(allowedOrigins) {
  const server = makeServer(allowedOrigins);
  const closed = new Promise((resolve) => {
    process.stdin.once('end', resolve);
    server.onclose = () => resolve(undefined);
  });
  await server.connect(new StdioServerTransport());
  await closed;
  await server.close();
}

/**
 * Return the server with its tools, which send to these origins only.
 *
 * @param {string[]} allowedOrigins
 */
export function makeServer(allowedOrigins) {
  const server = new Server(
    { name: 'agent-feedback', version: VERSION },
    { capabilities: { tools: {} }, instructions: `${TEXTS.about} ${TEXTS.untrusted}` },
  );
  const tools = new AgentTools(allowedOrigins);
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: describeTools() }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => callTool(tools, params.name, params.arguments ?? {}));
  return server;
}

function describeTools() {
  return Object.entries(ARGUMENTS).map(([name, schema]) => ({
    name,
    title: String(TEXTS.tools[name].title),
    description: String(TEXTS.tools[name].description),
    inputSchema: { type: /** @type {const} */ ('object'), additionalProperties: false, ...schema },
  }));
}

/**
 * Resolve to the result of a tool; what fails becomes a result too, for the agent to read.
 *
 * @param {AgentTools} tools
 * @param {string} name
 * @param {Record<string, any>} values
 */
async function callTool(tools, name, values) {
  try {
    if (!Object.hasOwn(ARGUMENTS, name)) {
      throw new InvalidOption(`there is no tool ${name}; there are ${Object.keys(ARGUMENTS).join(', ')}`);
    }
    const missing = (ARGUMENTS[name]?.required ?? []).filter((member) => values[member] === undefined);
    if (missing.length) {
      throw new InvalidOption(`${missing.join(', ')} is needed`);
    }
    const content = await tools.call(name, values);
    return { content: [{ type: 'text', text: JSON.stringify(content) }], structuredContent: content };
  } catch (error) {
    return { content: [{ type: 'text', text: messageOf(error) }], isError: true };
  }
}

/** @param {unknown} error */
function messageOf(error) {
  if (error instanceof ServiceUnavailable) {
    return `${error.message}${reasonOf(error)}`;
  }
  if (error instanceof InvalidOption || error instanceof ServiceError) {
    return error.message;
  }
  throw error;
}
