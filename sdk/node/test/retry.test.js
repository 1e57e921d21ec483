/** The queue reacts to the answers of the service as the vectors say. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ServiceUnavailable, ServiceUnreachable } from '../src/errors.js';
import { HttpResponse } from '../src/http/client.js';
import { Batch } from '../src/telemetry/batch.js';
import { EventQueue } from '../src/telemetry/event_queue.js';
import { LossReport } from '../src/telemetry/losses.js';
import { Notices } from '../src/telemetry/notices.js';
import { BatchSender } from '../src/telemetry/sender.js';
import { cases } from './vectors.js';

/** Stands for the network: answers as the case says, and keeps what was sent. */
class ScriptedHttp {
  answers = [];
  requests = [];

  async request({ body, headers }) {
    this.requests.push({ events: JSON.parse(body).events.map((event) => event.number), headers });
    const { error, status, body: text = '{}', retryAfter, refused } = this.answers.shift();
    if (error) {
      throw error === 'unreachable' ? new ServiceUnreachable('no') : new ServiceUnavailable('no');
    }
    return new HttpResponse(status, text, {
      ...(retryAfter && { 'retry-after': retryAfter }),
      ...(refused && { 'agent-feedback-refused': refused }),
    });
  }
}

function queueOf({ maxQueueSize = 1000, maxAttempts }) {
  const events = new EventQueue(maxQueueSize);
  const http = new ScriptedHttp();
  const options = { apiKey: { reveal: () => 'key' }, timeout: 1000, maxAttempts };
  const notices = new Notices(null);
  notices.warn = () => {};
  return { events, http, sender: new BatchSender({ events, http, notices, options }) };
}

function event(number, failures = 0) {
  return { text: JSON.stringify({ number }), failures, dueAt: 0 };
}

function numbers(events) {
  return events.map(({ text }) => JSON.parse(text).number);
}

for (const { name, input, expected } of cases('retry').filter(({ input }) => 'events' in input)) {
  test(`a batch: ${name}`, async () => {
    const { events, http, sender } = queueOf(input);
    http.answers = [...input.answers];
    const batchEvents = Array.from({ length: input.events }, (_, number) => event(number, input.failures));
    const batch = new Batch(batchEvents, new LossReport());
    events.sending = batch;
    const delayMs = await sender.send(batch);
    const { waiting } = events;
    const lastId = http.requests.at(-1).headers['Agent-Feedback-Batch'];
    assert.deepEqual(
      {
        requests: http.requests.map((request) => request.events),
        sent: events.sent,
        dropped: Object.fromEntries(events.dropped),
        kept: waiting ? waiting.events.length : events.events.length,
        isRepeatedUnchanged: waiting?.id === lastId,
        minDelayMs: delayMs,
        unreported: Object.fromEntries(events.unreportedLosses()),
      },
      expected,
    );
  });
}

for (const { name, input, expected } of cases('retry').filter(({ input }) => 'steps' in input)) {
  test(name, async () => {
    const { events, http, sender } = queueOf(input);
    let number = 0;
    for (const { put = 0, answers } of input.steps) {
      for (let count = 0; count < put; count += 1, number += 1) {
        events.append(event(number));
      }
      if (answers) {
        http.answers = [...answers];
        await sender.send(events.takeBatch());
      }
    }
    const ids = http.requests.map(({ headers }) => headers['Agent-Feedback-Batch']);
    assert.deepEqual(
      {
        requests: http.requests.map((request, index) => ({
          events: request.events,
          lost: request.headers['Agent-Feedback-Lost'] ?? null,
          isRepetition: ids.indexOf(ids[index]) < index,
        })),
        dropped: Object.fromEntries(events.dropped),
        waiting: numbers([...(events.waiting?.events ?? []), ...events.events.toArray()]),
      },
      expected,
    );
  });
}
