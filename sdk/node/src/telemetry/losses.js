/**
 * Telemetry events that were lost, until the service was told of them.
 *
 * A batch reports losses in its headers, and only a 2xx says that they arrived. Without an answer the service may have
 * stored the batch with its report. What depends on that is reported by the id of the batch, so that the service, which
 * remembers the ids of batches, counts it only if that batch never arrived.
 */

import { contract } from '../protocol.js';

const { headers: HEADERS, maxCount: MAX_COUNT, maxUnanswered: MAX_UNANSWERED } = contract.ledger;

/** @typedef {Map<string, number>} Counts the number of events by the reason of their loss */

/**
 * Add counts to others.
 *
 * @param {Counts} counts
 * @param {Iterable<[string, number]>} more
 */
export function addCounts(counts, more) {
  for (const [reason, count] of more) {
    if (count) {
      counts.set(reason, (counts.get(reason) ?? 0) + count);
    }
  }
  return counts;
}

/** The losses that one batch reports. */
export class LossReport {
  /**
   * @param {Counts} [counts] lost for certain
   * @param {Map<string, Counts>} [unanswered] by the id of a batch without an answer: lost if that never arrived
   */
  constructor(counts = new Map(), unanswered = new Map()) {
    this.counts = counts;
    this.unanswered = unanswered;
  }

  /**
   * Return the headers of a batch that carries this report.
   *
   * @param {string} batchId
   * @returns {Record<string, string>}
   */
  headers(batchId) {
    const totals = new Map(this.counts);
    for (const counts of this.unanswered.values()) {
      addCounts(totals, counts);
    }
    const groups = [...this.unanswered].map(([id, counts]) => `${id}:${asText(counts, ',')}`);
    return {
      [HEADERS.batch]: batchId,
      ...(totals.size ? { [HEADERS.lost]: asText(totals, ';') } : {}),
      ...(groups.length ? { [HEADERS.unanswered]: groups.join(';') } : {}),
    };
  }
}

/** The losses of a queue that the service was not told of. */
export class UnreportedLosses {
  /** @type {Counts} */
  #counts = new Map();
  /** @type {Map<string, Counts>} */
  #unanswered = new Map();

  /**
   * Add events that are lost for certain.
   *
   * @param {string} reason
   * @param {number} count
   */
  add(reason, count) {
    addCounts(this.#counts, [[reason, count]]);
  }

  /**
   * Add what is lost if a batch without an answer never arrived.
   *
   * @param {string} batchId
   * @param {Counts} counts
   */
  addUnanswered(batchId, counts) {
    if (this.#unanswered.size < MAX_UNANSWERED) {
      this.#unanswered.set(batchId, counts);
    } else {
      addCounts(this.#counts, counts);
    }
  }

  /** Return the report of a new batch; until that was answered, no other batch reports the same counts. */
  take() {
    const report = new LossReport(this.#counts, new Map(this.#unanswered));
    this.#counts = new Map();
    return report;
  }

  /**
   * Take back the report of a batch that did not arrive.
   *
   * @param {LossReport} report
   */
  restore(report) {
    addCounts(this.#counts, report.counts);
  }

  /**
   * Forget what was reported with a batch that has arrived.
   *
   * @param {LossReport} report
   */
  acknowledge(report) {
    for (const batchId of report.unanswered.keys()) {
      this.#unanswered.delete(batchId);
    }
  }

  /** Return the number of events by reason, except for those that a batch is reporting. */
  totals() {
    const totals = new Map(this.#counts);
    for (const counts of this.#unanswered.values()) {
      addCounts(totals, counts);
    }
    return totals;
  }
}

/**
 * @param {Counts} counts
 * @param {string} separator
 */
function asText(counts, separator) {
  return [...counts].map(([reason, count]) => `${reason}=${Math.min(count, MAX_COUNT)}`).join(separator);
}
