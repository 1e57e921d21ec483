/** The telemetry queue: bounded, emptied in the background, and never in the way of a response. */

import { backoffMs } from '../http/backoff.js';
import { HttpClient } from '../http/client.js';
import { contract } from '../protocol.js';
import { Alarm, MAX_TIMER_MS } from './alarm.js';
import { BATCH_SIZE, EventQueue } from './event_queue.js';
import { Notices } from './notices.js';
import { watchProcessEnd } from './process_end.js';
import { BatchSender } from './sender.js';

const { firstBackoffMs, maxBackoffMs, jitter } = contract.telemetry;

/**
 * @typedef {object} QueueOptions
 * @property {{reveal(): string}} apiKey
 * @property {string} endpoint
 * @property {number} flushInterval
 * @property {number} maxQueueSize
 * @property {number} timeout
 * @property {number} maxAttempts
 * @property {number} shutdownTimeout
 * @property {((reason: string, count: number) => unknown) | null} [onDrop]
 */

/**
 * @typedef {object} Counters every event that was put, by what became of it
 * @property {number} queued how many were put
 * @property {number} sent how many the service has accepted
 * @property {Record<string, number>} dropped how many were lost, by `queue_full`, `undelivered` (after `maxAttempts`),
 *   `refused` (by the service), `unreadable` (no JSON) and `shutdown`
 */

/** Sends events in batches. Every process, cluster worker and worker thread has a queue of its own. */
export class TelemetryQueue {
  #options;
  #events;
  #notices;
  #sender;
  #alarm = new Alarm();
  #isRunning = false;
  #isWatched = false;
  /** How many calls of `flush` wait. */
  #flushes = 0;
  /** How many tries have failed in a row. */
  #failures = 0;
  /** No request before this instant, on the monotonic clock. */
  #resumeAt = 0;
  /**
   * Called when a batch was dealt with.
   *
   * @type {Set<() => void>}
   */
  #listeners = new Set();
  /**
   * Until when the end of the process waits for the events, on the monotonic clock.
   *
   * @type {number | null}
   */
  #endAt = null;
  /** @type {Promise<number> | null} */
  #shutdown = null;

  /** @param {QueueOptions} options */
  constructor(options) {
    this.#options = options;
    this.#events = new EventQueue(options.maxQueueSize);
    this.#notices = new Notices(options.onDrop);
    this.#sender = new BatchSender({
      events: this.#events,
      http: new HttpClient(options.endpoint),
      notices: this.#notices,
      options,
    });
  }

  /**
   * What became of the events so far.
   *
   * @returns {Counters}
   */
  get counters() {
    const { queued, sent, dropped } = this.#events;
    return { queued, sent, dropped: Object.fromEntries(dropped) };
  }

  /**
   * Queue an event. This neither waits nor throws.
   *
   * @param {object} event
   */
  put(event) {
    this.#events.queued += 1;
    const text = asJson(event);
    if (text === null || this.#sender.isClosing) {
      const reason = text === null ? 'unreadable' : 'shutdown';
      this.#events.countDropped(reason, 1);
      this.#notices.announceLoss(reason, 1);
      return;
    }
    const dueAt = performance.now() + this.#options.flushInterval;
    const hasDropped = this.#events.append({ text, failures: 0, dueAt });
    this.#endAt = null;
    if (!this.#isRunning) {
      void this.#run();
    } else if (this.#events.events.length === BATCH_SIZE) {
      this.#alarm.ring();
    }
    if (hasDropped) {
      this.#notices.announceLoss('queue_full', 1);
    }
  }

  /**
   * Send all queued events; resolve to whether all were sent or dropped within `timeout` milliseconds.
   *
   * While a 401 pauses sending it resolves at once.
   *
   * @param {{timeout?: number}} [options]
   * @returns {Promise<boolean>}
   */
  async flush({ timeout = this.#options.shutdownTimeout } = {}) {
    this.#flushes += 1;
    this.#alarm.ring();
    try {
      await this.#untilSettled(timeout);
      return this.#events.isEmpty();
    } finally {
      this.#flushes -= 1;
    }
  }

  /**
   * Send all queued events and stop; resolve to how many events were lost meanwhile.
   *
   * Losses of which the service was not told are logged: no batch follows that could tell it.
   *
   * @param {{timeout?: number}} [options]
   * @returns {Promise<number>}
   */
  shutdown(options) {
    this.#shutdown ??= this.#close(options);
    return this.#shutdown;
  }

  /**
   * Return the dropped events by reason, without those of which the service has confirmed to have been told.
   *
   * @returns {Record<string, number>}
   */
  unreportedLosses() {
    return Object.fromEntries(this.#events.unreportedLosses());
  }

  /** Send what is queued before the process ends, for at most `shutdownTimeout` in all. */
  async finishBeforeExit() {
    this.#endAt ??= performance.now() + this.#options.shutdownTimeout;
    const timeout = this.#endAt - performance.now();
    if (timeout > 0 && !this.#events.isEmpty()) {
      await this.flush({ timeout });
    }
  }

  /** Lose what was not sent, and log losses of which the service was not told. This does not wait. */
  abandon() {
    if (this.#sender.isClosing) {
      return;
    }
    this.#sender.isClosing = true;
    this.#notices.announceLoss('shutdown', this.#events.dropUnsent('shutdown'));
    const losses = Object.entries(this.unreportedLosses());
    if (losses.length) {
      const text = losses.map(([reason, count]) => `${reason}=${count}`).join(', ');
      this.#notices.warn('unreported', text);
    }
    this.#alarm.ring();
  }

  /** @param {{timeout?: number}} [options] */
  async #close(options) {
    const droppedBefore = this.#events.totalDropped();
    await this.flush(options);
    this.abandon();
    // The answer to a batch in flight comes too late to be counted.
    const inFlight = this.#events.sending?.events.length ?? 0;
    return this.#events.totalDropped() - droppedBefore + inFlight;
  }

  /** Send batches until there are no events; the next event starts it again. */
  async #run() {
    this.#isRunning = true;
    if (!this.#isWatched) {
      this.#isWatched = true;
      watchProcessEnd(this);
    }
    for (;;) {
      for (let waitMs = this.#waitMs(); waitMs > 0; waitMs = this.#waitMs()) {
        await this.#alarm.wait(waitMs);
      }
      const batch = this.#events.takeBatch();
      if (batch === null) {
        this.#isRunning = false;
        return;
      }
      this.#postpone(await this.#sender.send(batch));
      for (const listener of [...this.#listeners]) {
        listener();
      }
    }
  }

  /** Return the milliseconds until the next batch is full or old enough, and may be sent. */
  #waitMs() {
    const { events, waiting } = this.#events;
    if (this.#sender.isClosing || (events.length === 0 && waiting === null)) {
      return 0;
    }
    const isDue = waiting !== null || events.length >= BATCH_SIZE || this.#flushes > 0;
    const dueAt = isDue ? 0 : (events.first()?.dueAt ?? 0);
    return Math.max(dueAt, this.#resumeAt) - performance.now();
  }

  /**
   * Put off the next request after a failed one.
   *
   * @param {number | null} delayMs that the service asks for; null after a success
   */
  #postpone(delayMs) {
    this.#failures = delayMs === null ? 0 : this.#failures + 1;
    if (delayMs !== null) {
      const bounds = { firstMs: firstBackoffMs, maxMs: maxBackoffMs, jitter };
      this.#resumeAt = performance.now() + Math.max(delayMs, backoffMs(this.#failures, bounds));
    }
  }

  /**
   * Wait until every event was dealt with, or nothing is sent because of a 401, or the time is up.
   *
   * @param {number} timeout
   * @returns {Promise<void>}
   */
  #untilSettled(timeout) {
    return new Promise((resolve) => {
      const finish = () => {
        clearTimeout(timer);
        this.#listeners.delete(check);
        resolve();
      };
      const check = () => {
        const isPaused = performance.now() < this.#sender.pausedUntil;
        if (this.#events.isEmpty() || (isPaused && this.#events.sending === null)) {
          finish();
        }
      };
      // The events that wait would not keep the process alive; this does.
      const timer = setTimeout(finish, Math.min(Math.max(timeout, 0), MAX_TIMER_MS));
      this.#listeners.add(check);
      check();
    });
  }
}

/**
 * Return an event as JSON, or null if it is none: it must not cost its batch.
 *
 * @param {object} event
 */
function asJson(event) {
  try {
    return JSON.stringify(event) ?? null;
  } catch {
    return null;
  }
}
