/** A batch of telemetry: the events of one request, and of its repetitions. */

import { newInteractionId } from '../interaction_id.js';

/**
 * @typedef {object} QueuedEvent
 * @property {string} text JSON
 * @property {number} failures how many requests with it have failed
 * @property {number} dueAt when it is sent at the latest, on the monotonic clock
 */

/**
 * Events that have failed equally often, and the losses that are reported with them.
 *
 * A repetition has the same id, events and report, so that the service counts it once.
 */
export class Batch {
  id = newInteractionId();
  /** Whether the service may have stored it in spite of every answer so far. */
  isUnanswered = false;
  /** Whether it is repeated unchanged even when the queue is full. */
  isFixed = false;

  /**
   * @param {QueuedEvent[]} events
   * @param {import("./losses.js").LossReport} report
   */
  constructor(events, report) {
    this.events = events;
    this.report = report;
  }

  /** Return the body of the request. */
  body() {
    return `{"events":[${this.events.map((event) => event.text).join(',')}]}`;
  }

  /** Return the headers of the request that say what it is a batch of. */
  headers() {
    return this.report.headers(this.id);
  }

  /**
   * Add failures to every event, and return how many each has now.
   *
   * @param {number} failures
   */
  countFailures(failures) {
    this.events = this.events.map((event) => ({ ...event, failures: event.failures + failures }));
    return this.events[0]?.failures ?? 0;
  }
}
