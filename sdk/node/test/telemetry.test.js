/** Events, interaction ids and loss reports are made as the vectors say. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Callbacks } from '../src/callbacks.js';
import { Interaction } from '../src/interaction.js';
import { formatUuid, stampedBytes } from '../src/interaction_id.js';
import { readOptions } from '../src/options.js';
import { LossReport } from '../src/telemetry/losses.js';
import { PRODUCT_KEY } from './keys_of_tests.js';
import { cases } from './vectors.js';

/** Return the event of an interaction whose callbacks return what a case says. */
function eventOf(
  context,
  { interactionId, issuedAtMs, surface, operation, customerRef, sessionRef, hint, ...response },
) {
  context.mock.method(console, 'warn', () => {});
  context.mock.method(Date, 'now', () => issuedAtMs);
  const options = readOptions({
    apiKey: PRODUCT_KEY,
    endpoint: 'http://127.0.0.1:9',
    customerRef: () => customerRef,
    sessionRef: () => sessionRef,
    runtimeHint: () => hint,
  });
  const events = [];
  const services = { options, telemetry: { put: (event) => events.push(event) } };
  const references = new Callbacks(options).references({ source: {}, header: () => null });
  new Interaction(services, operation, references, { surface, interactionId }).finish(response);
  return events[0];
}

const READERS = {
  interactionId: (input, context) => eventOf(context, input),
  milliseconds: ({ milliseconds, randomness }) =>
    formatUuid(stampedBytes(milliseconds, Buffer.from(randomness, 'hex'))),
  batchId: ({ batchId, lost, unanswered }) => {
    const groups = Object.entries(unanswered).map(([id, counts]) => [id, new Map(Object.entries(counts))]);
    return new LossReport(new Map(Object.entries(lost)), new Map(groups)).headers(batchId);
  },
};

for (const { name, input, expected } of cases('telemetry')) {
  test(name, (context) => {
    const kind = Object.keys(READERS).find((member) => member in input);
    assert.deepEqual(READERS[kind](input, context), expected);
  });
}

test('the duration has at most three decimals', (context) => {
  const input = { interactionId: 'x', issuedAtMs: 0, surface: 'http_json', operation: '/', durationMs: 1.23456 };
  assert.equal(eventOf(context, input).durationMs, 1.235);
});
