/** Runs commands of the command line in this process. */

import { PassThrough, Readable } from 'node:stream';

import { run } from '../src/cli/run.js';
import { Terminal } from '../src/cli/terminal.js';

export const VARIABLES = [
  'AGENT_FEEDBACK_URL',
  'AGENT_FEEDBACK_KEY',
  'AGENT_FEEDBACK_ALLOWED_ORIGINS',
  'AGENT_FEEDBACK_READ_KEY',
];

VARIABLES.forEach((name) => delete process.env[name]);

/** Run a command, with a person at the terminal where there are answers. */
export async function command(words, { answers = null, input = '' } = {}) {
  const streams = {
    input: Readable.from([Buffer.from(answers ?? input)]),
    output: new PassThrough(),
    errors: new PassThrough(),
  };
  streams.input.isTTY = streams.errors.isTTY = answers !== null;
  const code = await run(words, new Terminal(streams));
  const [output, errors] = [streams.output, streams.errors].map((stream) => String(stream.read() ?? ''));
  return { code, output, errors };
}

export function allowed(product, ...words) {
  return [...words, '--allow-origin', product.url];
}
