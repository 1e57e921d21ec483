/** The bounded queue of telemetry events, and its account of every event. */

import { contract } from '../protocol.js';
import { Batch } from './batch.js';
import { EventBuffer } from './event_buffer.js';
import { UnreportedLosses, addCounts } from './losses.js';

/** @typedef {import("./batch.js").QueuedEvent} QueuedEvent */

export const BATCH_SIZE = contract.telemetry.batchSize;

/** Events in the order in which they go, the batch that is being sent, and one that has failed and goes again. */
export class EventQueue {
  #maxSize;
  #losses = new UnreportedLosses();
  /** How many events were put. */
  queued = 0;
  /** How many events the service has accepted. */
  sent = 0;
  /**
   * How many events were lost, by reason.
   *
   * @type {import("./losses.js").Counts}
   */
  dropped = new Map();
  /** @type {EventBuffer<QueuedEvent>} */
  events = new EventBuffer();
  /** @type {Batch | null} */
  sending = null;
  /**
   * Goes again before the events.
   *
   * @type {Batch | null}
   */
  waiting = null;

  /** @param {number} maxSize */
  constructor(maxSize) {
    this.#maxSize = maxSize;
  }

  /** Tell whether every event was dealt with. */
  isEmpty() {
    return this.events.length === 0 && this.sending === null && this.waiting === null;
  }

  /**
   * Append an event; return whether the oldest one was dropped for it.
   *
   * @param {QueuedEvent} event
   */
  append(event) {
    const isFull = this.#excess() >= 0;
    if (isFull) {
      this.#mergeWaiting();
      this.events.shift();
      this.countDropped('queue_full', 1);
    }
    this.events.push(event);
    return isFull;
  }

  /** Return the batch to be sent now, or null if there are no events. */
  takeBatch() {
    this.sending = this.waiting ?? this.#nextBatch();
    this.waiting = null;
    return this.sending;
  }

  /**
   * Count a batch as sent.
   *
   * @param {Batch} batch
   */
  acknowledge(batch) {
    this.sent += batch.events.length;
    this.#losses.acknowledge(batch.report);
    this.sending = null;
  }

  /**
   * Keep a batch for its next try; return how many events were dropped because there was no space.
   *
   * @param {Batch} batch
   */
  keep(batch) {
    this.sending = null;
    this.waiting = batch;
    if (!batch.isUnanswered || this.#excess() > 0) {
      this.#mergeWaiting();
    }
    const excess = Math.max(this.#excess(), 0);
    for (let count = 0; count < excess; count += 1) {
      this.events.shift();
    }
    this.countDropped('queue_full', excess);
    return excess;
  }

  /**
   * Drop a batch as refused except for some of its events, and return the batch of those.
   *
   * @param {Batch} batch
   * @param {QueuedEvent[]} events
   * @param {number} toldCount how many of the dropped events the service has counted itself
   */
  split(batch, events, toldCount) {
    this.#countLost(batch, 'refused', batch.events.length - events.length, toldCount);
    this.sending = events.length ? new Batch(events, this.#losses.take()) : null;
    return this.sending;
  }

  /**
   * Drop a batch.
   *
   * @param {Batch} batch
   * @param {string} reason
   */
  drop(batch, reason) {
    this.#countLost(batch, reason, batch.events.length, 0);
    this.sending = null;
  }

  /**
   * Drop everything that is not being sent, and return the number of events.
   *
   * @param {string} reason
   */
  dropUnsent(reason) {
    let count = this.events.length;
    this.events.clear();
    this.countDropped(reason, count);
    if (this.waiting) {
      count += this.waiting.events.length;
      this.#countLost(this.waiting, reason, this.waiting.events.length, 0);
      this.waiting = null;
    }
    return count;
  }

  /**
   * Count dropped events, of which the service is to be told.
   *
   * @param {string} reason
   * @param {number} count
   */
  countDropped(reason, count) {
    addCounts(this.dropped, [[reason, count]]);
    this.#losses.add(reason, count);
  }

  /** Return the number of dropped events. */
  totalDropped() {
    return [...this.dropped.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Return the dropped events by reason, without those of which the service has confirmed to have been told. */
  unreportedLosses() {
    const totals = this.#losses.totals();
    for (const batch of [this.sending, this.waiting]) {
      addCounts(totals, batch?.report.counts ?? []);
    }
    return totals;
  }

  /**
   * Return by how many events the queue is beyond its size, negative where there is space.
   *
   * A batch that may have been stored, since it got no answer, is beside the queue: only its exact repetition can be
   * told from another batch. So is one that is being sent.
   */
  #excess() {
    const waitingCount = this.waiting && !this.waiting.isFixed ? this.waiting.events.length : 0;
    return this.events.length + waitingCount - this.#maxSize;
  }

  /** Put the events of the waiting batch back into the queue, as its oldest. */
  #mergeWaiting() {
    if (this.waiting && !this.waiting.isFixed) {
      this.#losses.restore(this.waiting.report);
      this.events.unshift(this.waiting.events);
      this.waiting = null;
    }
  }

  /** Take a batch from the queue: only events that have failed equally often, so that it ends as a whole. */
  #nextBatch() {
    const failures = this.events.first()?.failures;
    /** @type {QueuedEvent[]} */
    const batchEvents = [];
    while (batchEvents.length < BATCH_SIZE && this.events.first()?.failures === failures) {
      const event = this.events.shift();
      if (event === undefined) {
        break;
      }
      batchEvents.push(event);
    }
    return batchEvents.length ? new Batch(batchEvents, this.#losses.take()) : null;
  }

  /**
   * Count dropped events of a batch, and take back its report.
   *
   * @param {Batch} batch
   * @param {string} reason
   * @param {number} count
   * @param {number} toldCount
   */
  #countLost(batch, reason, count, toldCount) {
    addCounts(this.dropped, [[reason, count]]);
    if (batch.isUnanswered) {
      // What the service has counted of it as refused gives way to this.
      this.#losses.addUnanswered(batch.id, addCounts(new Map(batch.report.counts), [[reason, count]]));
    } else {
      this.#losses.restore(batch.report);
      this.#losses.add(reason, count - toldCount);
    }
  }
}
