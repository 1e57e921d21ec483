/** What a company hears of its telemetry: one warning of each kind, and each loss through `onDrop`. */

import { WarnOnce } from '../warn.js';

/** @type {Record<string, (reason: string) => string>} */
const SENTENCES = {
  quota: (name) =>
    `telemetry is refused until the next UTC day (quota ${name} of the environment); the product is not affected`,
  failure: (reason) => `telemetry could not be delivered (${reason}); the product is not affected`,
  unreported: (losses) => `telemetry has ended before the service was told of dropped events (${losses})`,
  drop: (reason) => `telemetry events were dropped (${reason}); the product is not affected`,
};

/** The warnings of one queue, and its `onDrop`. */
export class Notices {
  #onDrop;
  #warnings = new WarnOnce();

  /** @param {((reason: string, count: number) => unknown) | null | undefined} onDrop */
  constructor(onDrop) {
    this.#onDrop = onDrop;
  }

  /**
   * Tell the company of dropped events.
   *
   * @param {string} reason
   * @param {number} count
   * @param {{isWarned?: boolean}} [options] whether a warning has said it already
   */
  announceLoss(reason, count, { isWarned = false } = {}) {
    if (count === 0) {
      return;
    }
    try {
      const result = this.#onDrop?.(reason, count);
      // A callback may be asynchronous, and fail later.
      if (result instanceof Promise) {
        result.catch(() => {});
      }
    } catch {
      // It is the company's, and telemetry goes on.
    }
    if (!isWarned) {
      this.warn('drop', reason);
    }
  }

  /**
   * Warn once of each kind.
   *
   * @param {string} kind
   * @param {string} reason
   */
  warn(kind, reason) {
    const sentence = SENTENCES[kind];
    if (sentence) {
      this.#warnings.warn(kind, sentence(reason));
    }
  }
}
