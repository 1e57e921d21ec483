/** The commands `agent-feedback agent show`, `ask`, `report` and `mcp`. */

import { InvalidOption } from '../errors.js';
import { DONE, Failure, NOT_CONFIRMED, UNUSABLE } from './exit_codes.js';
import { REPORT_OPTIONS, requireEnvelope, runReport } from './feedback.js';
import { ORIGIN_OPTION, PRODUCT_OPTIONS, PRODUCT_POSITIONALS, permit, readOrigins, visit } from './product.js';
import { runShow } from './show.js';
import { printable } from './terminal.js';

/**
 * @typedef {import('../agent/index.js').Received} Received
 * @typedef {import('./arguments.js').Command} Command
 * @typedef {import('./terminal.js').Terminal} Terminal
 */

const EPILOG = `exit codes:
  0    done
  1    the service refused it; the message names its error code
  2    wrong usage, or more than the product's bounds allow; nothing was sent
  3    the product or the service could not be reached, or gave no usable answer
  4    the response has no envelope (show --why tells which rule left it without one)
  5    you did not confirm; nothing was sent
  130  ended by Ctrl-C

Feedback goes only to services that you allow: with --allow-origin, in the environment
(AGENT_FEEDBACK_ALLOWED_ORIGINS, AGENT_FEEDBACK_URL), or when you are asked on a terminal.`;

/**
 * Return a command on a product.
 *
 * @param {string} name
 * @param {string} summary
 * @param {import('./arguments.js').Option[]} options
 * @param {Command['run']} run
 * @returns {Command}
 */
function productCommand(name, summary, options, run) {
  return {
    name: `agent-feedback agent ${name}`,
    summary,
    description: `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`,
    epilog: EPILOG,
    positionals: PRODUCT_POSITIONALS,
    options: [...PRODUCT_OPTIONS, ...options],
    ...(run ? { run } : {}),
  };
}

const WHY = { names: ['--why'], member: 'why', help: 'without an envelope, tell which rule left the response alone' };
const DECISIONS = [
  {
    names: ['--approve'],
    member: 'decision',
    constant: 'approved',
    excludes: '--decline',
    help: 'the user agrees',
  },
  {
    names: ['--decline'],
    member: 'decision',
    constant: 'declined',
    excludes: '--approve',
    help: 'the user refuses',
  },
];

/** @type {Command} */
export const AGENT = {
  name: 'agent-feedback agent',
  summary: 'see what a response requests, ask, and send feedback',
  commands: {
    show: productCommand(
      'show',
      "show what a product's response requests of an agent; sends no feedback",
      [WHY],
      runShow,
    ),
    ask: productCommand('ask', "send the user's answer to the product's question, or change it", DECISIONS, runAsk),
    report: productCommand('report', 'send a review (--outcome) or a report (--summary)', REPORT_OPTIONS, runReport),
    mcp: {
      name: 'agent-feedback agent mcp',
      summary: 'serve these commands as tools of the Model Context Protocol, over standard input and output',
      description:
        'An MCP server for your own agent, over standard input and output. It needs the package ' +
        '@modelcontextprotocol/sdk: npm install @modelcontextprotocol/sdk.',
      options: [ORIGIN_OPTION],
      run: runMcp,
    },
  },
};

/**
 * Send a decision of the user, who is asked here if no option says it.
 *
 * @param {any} values
 * @param {Terminal} terminal
 */
async function runAsk(values, terminal) {
  const received = requireEnvelope(await visit(values, terminal));
  await permit(received, terminal);
  let { decision } = values;
  if (decision === undefined) {
    await received.introspect();
    decision = await askUser(received, terminal);
  }
  const { state, changed } = await received.decide(decision);
  if (values.json) {
    terminal.printJson({ state: state ?? null, changed: changed ?? null });
    return DONE;
  }
  terminal.printLine(`${decision}: the state is ${printable(state)}`);
  if (decision === 'approved' && received.content.configuredMode === 'ask_always') {
    const command = '`agent-feedback agent report --approve`';
    terminal.printLine(`This product asks for each use: ${command} sends with a yes.`);
  }
  return DONE;
}

/**
 * Resolve to the decision of the person at the terminal on the question that stands.
 *
 * @param {Received} received
 * @param {Terminal} terminal
 */
async function askUser(received, terminal) {
  const { question, state } = received;
  if (question === null) {
    throw new InvalidOption(`no question stands: the state is ${state}`);
  }
  if (!terminal.isInteractive) {
    throw new InvalidOption(`the user has to be asked: ${question} Pass --approve or --decline`);
  }
  const isApproval = await terminal.ask(printable(question));
  if (isApproval === null) {
    throw new Failure('that is no clear answer; nothing was sent', NOT_CONFIRMED);
  }
  return isApproval ? 'approved' : 'declined';
}

/**
 * Serve the tools over standard input and output until the client ends.
 *
 * @param {any} values
 * @param {Terminal} terminal
 */
async function runMcp(values, terminal) {
  const origins = readOrigins(values.allowOrigin);
  let server;
  try {
    // The SDK is installed only where it is used, and takes a moment to load.
    server = await import('./mcp_server.js');
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
    if (code !== 'ERR_MODULE_NOT_FOUND' || !message.includes('@modelcontextprotocol/sdk')) {
      throw error;
    }
    const command = 'npm install @modelcontextprotocol/sdk';
    terminal.printError(`the package @modelcontextprotocol/sdk is not installed; ${command} brings it`);
    return UNUSABLE;
  }
  await server.serve(origins);
  return DONE;
}
