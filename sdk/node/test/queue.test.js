/** The queue over real HTTP: when it sends, what it does while the service fails, and how a process ends. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { readOptions } from '../src/options.js';
import { TelemetryQueue } from '../src/telemetry/queue.js';
import { PRODUCT_KEY } from './keys_of_tests.js';
import { closedUrl, startService, until } from './service.js';

const PROGRAM = fileURLToPath(new URL('programs/telemetry.js', import.meta.url));
const ACCEPTED = { status: 202, body: { accepted: 1, dropped: 0 } };
const LIMIT = { timeout: 20_000 };

function queueFor(endpoint, settings) {
  return new TelemetryQueue(readOptions({ apiKey: PRODUCT_KEY, endpoint, ...settings }));
}

function putMany(queue, count) {
  for (let number = 0; number < count; number += 1) {
    queue.put({ number });
  }
}

function sizes({ requests }) {
  return requests.map(({ body }) => body.events.length);
}

/** Keep warnings away from the output, and return them. */
function silence(context) {
  const { mock } = context.mock.method(console, 'warn', () => {});
  return () => mock.calls.map(({ arguments: [text] }) => text);
}

test('fifty events go at once, the others after the interval', LIMIT, async (context) => {
  const service = await startService(context, () => ACCEPTED);
  const queue = queueFor(service.url, { flushInterval: 300 });
  putMany(queue, 70);
  const startedAt = performance.now();
  await until(() => service.requests.length === 2);
  assert.deepEqual(sizes(service), [50, 20]);
  assert.ok(performance.now() - startedAt > 250);
  await queue.flush();
  assert.deepEqual(queue.counters, { queued: 70, sent: 70, dropped: {} });
});

test('a batch names itself and this package', LIMIT, async (context) => {
  const service = await startService(context, () => ACCEPTED);
  const queue = queueFor(service.url);
  queue.put({});
  assert.equal(await queue.flush(), true);
  const [{ method, path, headers }] = service.requests;
  assert.deepEqual([method, path], ['POST', '/api/v2/telemetry/batches']);
  assert.match(headers['user-agent'], /^agent-feedback-node\/[0-9A-Za-z.+-]+$/);
  assert.match(headers['agent-feedback-batch'], /^[0-9a-f]{8}-[0-9a-f]{4}-4/);
  assert.equal(headers.authorization, `Bearer ${PRODUCT_KEY}`);
  assert.equal(headers['content-type'], 'application/json');
});

test('five thousand events in a second are all delivered', LIMIT, async (context) => {
  const service = await startService(context, () => ACCEPTED);
  const queue = queueFor(service.url);
  const startedAt = performance.now();
  // A product has no more than some responses in one turn of its event loop, also on a machine that is behind.
  let put = 0;
  while (put < 5000) {
    const due = Math.min(5000, put + 4, Math.ceil((performance.now() - startedAt) * 5));
    for (; put < due; put += 1) {
      queue.put({ put });
    }
    await setImmediate();
  }
  await queue.flush();
  assert.deepEqual(queue.counters, { queued: 5000, sent: 5000, dropped: {} });
  const numbers = service.requests.flatMap(({ body }) => body.events.map((event) => event.put));
  assert.equal(new Set(numbers).size, 5000);
});

test('one request is under way at a time', LIMIT, async (context) => {
  let running = 0;
  let most = 0;
  const service = await startService(context, async () => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setTimeout(resolve, 10));
    running -= 1;
    return ACCEPTED;
  });
  const queue = queueFor(service.url);
  putMany(queue, 200);
  await queue.flush();
  assert.deepEqual([most, service.requests.length], [1, 4]);
});

test(
  'a full queue drops its oldest events, tells the company at once and the service with the next batch',
  LIMIT,
  async (context) => {
    const warnings = silence(context);
    const service = await startService(context, () => ACCEPTED);
    const losses = [];
    const onDrop = (reason, count) => {
      losses.push([reason, count]);
      throw new Error('of the company');
    };
    const queue = queueFor(service.url, { maxQueueSize: 2, onDrop });
    putMany(queue, 4);
    assert.deepEqual(losses, [
      ['queue_full', 1],
      ['queue_full', 1],
    ]);
    await queue.flush();
    const [{ headers, body }] = service.requests;
    assert.equal(headers['agent-feedback-lost'], 'queue_full=2');
    assert.deepEqual(
      body.events.map(({ number }) => number),
      [2, 3],
    );
    assert.equal(warnings().length, 1);
    assert.deepEqual(queue.unreportedLosses(), {});
  },
);

test('what is no JSON is lost alone', LIMIT, async (context) => {
  silence(context);
  const service = await startService(context, () => ACCEPTED);
  const queue = queueFor(service.url);
  const circle = {};
  circle.itself = circle;
  queue.put(circle);
  queue.put({ number: 1n });
  queue.put({ number: 2 });
  await queue.flush();
  assert.deepEqual(queue.counters, { queued: 3, sent: 1, dropped: { unreadable: 2 } });
});

test('a batch without an answer is repeated unchanged', LIMIT, async (context) => {
  silence(context);
  const answers = [null, { status: 500 }, ACCEPTED];
  const service = await startService(context, () => answers.shift());
  const queue = queueFor(service.url);
  queue.put({ number: 1 });
  assert.equal(await queue.flush(), true);
  const ids = service.requests.map(({ headers }) => headers['agent-feedback-batch']);
  assert.deepEqual([ids.length, new Set(ids).size], [3, 1]);
  assert.equal(queue.counters.sent, 1);
});

test(
  'events that no connection takes are lost after the last try, with one warning of each kind',
  LIMIT,
  async (context) => {
    const warnings = silence(context);
    const queue = queueFor(await closedUrl(), { maxAttempts: 2 });
    putMany(queue, 3);
    assert.equal(await queue.flush(), true);
    assert.deepEqual(queue.counters.dropped, { undelivered: 3 });
    assert.match(warnings()[0], /ECONNREFUSED/);
    assert.equal(warnings().length, 2);
  },
);

test('a redirect is not followed, and ends its batch', LIMIT, async (context) => {
  silence(context);
  const other = await startService(context, () => ACCEPTED);
  const service = await startService(context, () => ({ status: 307, headers: { Location: other.url } }));
  const queue = queueFor(service.url);
  queue.put({});
  await queue.flush();
  assert.deepEqual([queue.counters.dropped, other.requests.length], [{ refused: 1 }, 0]);
});

test('an answer without an end is cut off, and counts as none', LIMIT, async (context) => {
  silence(context);
  const service = await startService(context, () => ({ status: 202, body: 'x'.repeat(2 * 1024 * 1024) }));
  const queue = queueFor(service.url, { maxAttempts: 1 });
  queue.put({});
  await queue.flush();
  assert.deepEqual(queue.counters.dropped, { undelivered: 1 });
});

test('a 401 pauses sending, and a flush returns at once', LIMIT, async (context) => {
  silence(context);
  const service = await startService(context, () => ({ status: 401 }));
  const queue = queueFor(service.url);
  putMany(queue, 60);
  assert.equal(await queue.flush(), false);
  assert.equal(await queue.flush(), false);
  assert.equal(service.requests.length, 1);
  assert.equal(await queue.shutdown(), 10);
  assert.deepEqual(queue.counters.dropped, { refused: 50, shutdown: 10 });
});

test('Retry-After is waited for', LIMIT, async (context) => {
  silence(context);
  const answers = [{ status: 429, headers: { 'Retry-After': '1' } }, ACCEPTED];
  const service = await startService(context, () => answers.shift());
  const queue = queueFor(service.url);
  queue.put({});
  const startedAt = performance.now();
  await queue.flush();
  assert.ok(performance.now() - startedAt >= 1000);
  assert.equal(queue.counters.sent, 1);
});

test('shutdown says how much was lost, and logs what the service was not told', LIMIT, async (context) => {
  const warnings = silence(context);
  const service = await startService(context, () => ({ ...ACCEPTED, delayMs: 1000 }));
  const queue = queueFor(service.url);
  putMany(queue, 60);
  assert.equal(await queue.shutdown({ timeout: 50 }), 60);
  queue.put({});
  assert.deepEqual(queue.counters.dropped, { shutdown: 11 });
  assert.ok(warnings().some((text) => text.includes('shutdown=10')));
  assert.equal(await queue.shutdown(), 60);
});

test('a put takes no time while the service is slow', LIMIT, async (context) => {
  silence(context);
  const service = await startService(context, () => ({ ...ACCEPTED, delayMs: 500 }));
  const queue = queueFor(service.url);
  putMany(queue, 50);
  await until(() => service.requests.length === 1);
  assert.equal(queue.put({}), undefined);
  assert.equal(queue.counters.queued, 51);
  await queue.shutdown({ timeout: 1 });
});

/** Run a program that puts events, and return what it wrote to standard error. */
async function runProgram(url, kind) {
  const env = { ...process.env, AGENT_FEEDBACK_URL: url, AGENT_FEEDBACK_KEY: PRODUCT_KEY };
  const { stderr } = await promisify(execFile)(process.execPath, [PROGRAM, kind], { env, timeout: 15_000 });
  return stderr;
}

for (const [kind, others] of Object.entries({ plain: 0, thread: 2, cluster: 2 })) {
  test(`a process that ends sends what waits (${kind})`, LIMIT, async (context) => {
    const service = await startService(context, () => ACCEPTED);
    assert.equal(await runProgram(service.url, kind), '');
    const events = service.requests.flatMap(({ body }) => body.events.map(({ from }) => from));
    assert.deepEqual(events.sort(), ['main', ...Array(others).fill('other')]);
  });
}

test('a process that is ended at once logs what it loses', LIMIT, async (context) => {
  const service = await startService(context, () => ACCEPTED);
  assert.match(await runProgram(service.url, 'exit'), /dropped events \(shutdown=1\)/);
});

test('a process ends although the service is unreachable', LIMIT, async () => {
  assert.match(await runProgram(await closedUrl(), 'plain'), /could not be delivered/);
});
