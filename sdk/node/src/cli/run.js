/** The command `agent-feedback`. */

import { InvalidOption, ServiceRefused, ServiceUnavailable } from '../errors.js';
import { VERSION } from '../version.js';
import { UsageError, readArguments } from './arguments.js';
import { AGENT } from './agent.js';
import { DOCTOR } from './doctor.js';
import { Failure, REFUSED, UNAVAILABLE, UNUSABLE } from './exit_codes.js';
import { help, usage } from './help.js';
import { reasonOf } from './terminal.js';

/** @typedef {import('./arguments.js').Command} Command */

/** @type {Command} */
const PROGRAM = {
  name: 'agent-feedback',
  summary: '',
  description: 'Agent Feedback on the command line: for people and their agents, and for companies.',
  epilog: '`agent-feedback COMMAND --help` tells of a command, with its exit codes.',
  options: [{ names: ['--version'], member: 'version', help: "show program's version number and exit" }],
  commands: { agent: AGENT, doctor: DOCTOR },
};

/**
 * Run a command and resolve to its exit code.
 *
 * @param {string[]} words
 * @param {import('./terminal.js').Terminal} terminal
 * @returns {Promise<number>}
 */
export async function run(words, terminal) {
  try {
    return await runCommand(words, terminal);
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.errors.write(`${usage(error.command)}\n${error.command.name}: error: ${error.message}\n`);
      return UNUSABLE;
    }
    const { message, exitCode } = explain(error);
    terminal.printError(message);
    return exitCode;
  } finally {
    terminal.close();
  }
}

/**
 * @param {string[]} words
 * @param {import('./terminal.js').Terminal} terminal
 */
async function runCommand(words, terminal) {
  const { command, rest } = findCommand(words);
  const values = readArguments(command, rest);
  if (values.help) {
    terminal.printLine(help(command));
    return 0;
  }
  if (values.version) {
    terminal.printLine(`agent-feedback ${VERSION}`);
    return 0;
  }
  if (!command.run) {
    terminal.errors.write(`${help(command)}\n`);
    return UNUSABLE;
  }
  return command.run(values, terminal);
}

/**
 * Return the command that words name, and the words behind its name.
 *
 * @param {string[]} words
 */
function findCommand(words) {
  /** @type {Command} */
  let command = PROGRAM;
  const rest = [...words];
  while (command.commands && rest[0] !== undefined && !rest[0].startsWith('-')) {
    const name = rest.shift() ?? '';
    if (!Object.hasOwn(command.commands, name)) {
      const names = Object.keys(command.commands).map((known) => `'${known}'`);
      const message = `argument COMMAND: invalid choice: '${name}' (choose from ${names.join(', ')})`;
      throw new UsageError(message, command);
    }
    command = /** @type {Command} */ (command.commands[name]);
  }
  return { command, rest };
}

/**
 * Return the message and the exit code for an error of a command; throw it on where it is none of those.
 *
 * @param {unknown} error
 */
function explain(error) {
  if (error instanceof Failure) {
    return error;
  }
  if (error instanceof InvalidOption) {
    return { message: error.message, exitCode: UNUSABLE };
  }
  if (error instanceof ServiceRefused) {
    return { message: `the service refused it: ${error.message}`, exitCode: REFUSED };
  }
  if (error instanceof ServiceUnavailable) {
    return { message: `${error.message}${reasonOf(error)}`, exitCode: UNAVAILABLE };
  }
  throw error;
}
