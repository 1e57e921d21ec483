/**
 * Measures what the SDK adds to a response of 2 KiB JSON, and to the start of a process; prints both as JSON.
 *
 *     AGENT_FEEDBACK_KEY=… AGENT_FEEDBACK_URL=… node bench/overhead.js
 */

import { execFileSync } from 'node:child_process';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Duplex } from 'node:stream';

const RESPONSES = 500;
const TURNS = 20;
const STARTS = 9;

const body = Buffer.from(
  JSON.stringify({ orders: Array.from({ length: 60 }, (_, id) => ({ id, state: 'delivered' })), next: null }),
);

/**
 * @param {unknown} _
 * @param {ServerResponse} response
 */
function listener(_, response) {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length }).end(body);
}

/** @param {number[]} numbers */
function median(numbers) {
  return numbers.sort((first, second) => first - second)[Math.floor(numbers.length / 2)];
}

/**
 * Return the microseconds of processor time that a response takes.
 * @param {(request: any, response: any) => unknown} answer
 */
async function measureResponse(answer) {
  const socket = /** @type {any} */ (new Duplex({ read() {}, write: (_, __, done) => done() }));
  const startedAt = process.cpuUsage();
  for (let number = 0; number < RESPONSES; number += 1) {
    const request = new IncomingMessage(socket);
    Object.assign(request, { method: 'GET', url: '/orders/42', httpVersionMajor: 1, httpVersionMinor: 1 });
    const response = new ServerResponse(request);
    response.assignSocket(socket);
    answer(request, response);
    response.detachSocket(socket);
    // As between the requests of a server.
    if (number % 10 === 0) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  const { user, system } = process.cpuUsage(startedAt);
  return (user + system) / RESPONSES;
}

/** Return the milliseconds of processor time that loading the package takes. */
function measureStart() {
  const code = `const before = process.cpuUsage();
    await import(${JSON.stringify(new URL('../src/index.js', import.meta.url).href)});
    const { user, system } = process.cpuUsage(before);
    console.log((user + system) / 1000);`;
  return Number(execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' }));
}

const { AgentFeedback } = await import('../src/index.js');
const feedback = new AgentFeedback({ maxQueueSize: RESPONSES });
const instrumented = feedback.http(listener);
/** @type {{plain: number[], instrumented: number[]}} */
const turns = { plain: [], instrumented: [] };
for (let turn = 0; turn < TURNS; turn += 1) {
  turns.plain.push(await measureResponse(listener));
  turns.instrumented.push(await measureResponse(instrumented));
}
console.log(
  JSON.stringify({
    bodyBytes: body.length,
    addedUs: median(turns.instrumented) - median(turns.plain),
    importMs: median(Array.from({ length: STARTS }, measureStart)),
  }),
);
process.exit(0);
