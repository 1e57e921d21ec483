#!/usr/bin/env node
/** The program `agent-feedback`. */

import process from 'node:process';

import { PIPE_CLOSED, STOPPED } from './exit_codes.js';
import { run } from './run.js';
import { Terminal } from './terminal.js';

const terminal = new Terminal({ input: process.stdin, output: process.stdout, errors: process.stderr });

process.stdout.on('error', (error) => {
  // The reader has closed the pipe.
  if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EPIPE') {
    process.exit(PIPE_CLOSED);
  }
  throw error;
});
process.once('SIGINT', () => {
  terminal.printError('stopped');
  process.exit(STOPPED);
});

process.exitCode = await run(process.argv.slice(2), terminal);
