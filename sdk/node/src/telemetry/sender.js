/** Sends batches of telemetry, and deals with the answers of the service. */

import { ServiceUnavailable, ServiceUnreachable } from '../errors.js';
import { retryAfterMs } from '../http/backoff.js';
import { contract } from '../protocol.js';
import { countedEvents, exceededQuota, refusedIndexes } from './refusals.js';

/**
 * @typedef {import("./batch.js").Batch} Batch
 * @typedef {import("../http/client.js").HttpResponse} HttpResponse
 */

const { retriedStatuses: RETRIED_STATUSES, unauthorizedPauseMs: UNAUTHORIZED_PAUSE_MS } = contract.telemetry;

/** An earlier try with the same content was refused as well, so it was not stored. */
const REFUSED_FOR_CONTENT = [400, 413, 415, 422];

/**
 * @typedef {object} SenderParts
 * @property {import("./event_queue.js").EventQueue} events
 * @property {Pick<import("../http/client.js").HttpClient, "request">} http
 * @property {import("./notices.js").Notices} notices
 * @property {{apiKey: {reveal(): string}, timeout: number, maxAttempts: number}} options
 */

/** Sends one batch after the other. */
export class BatchSender {
  #events;
  #http;
  #notices;
  #options;
  /** Whether failed events are lost, since nothing is sent any more. */
  isClosing = false;
  /** Until when a 401 pauses, on the monotonic clock. */
  pausedUntil = 0;

  /** @param {SenderParts} parts */
  constructor({ events, http, notices, options }) {
    this.#events = events;
    this.#http = http;
    this.#notices = notices;
    this.#options = options;
  }

  /**
   * Send a batch, without the events that the service refuses by name.
   *
   * Return null when every event is sent or dropped, or the least delay in milliseconds before the next request.
   *
   * @param {Batch} batch
   * @returns {Promise<number | null>}
   */
  async send(batch) {
    /** @type {Batch | null} */
    let remaining = batch;
    while (remaining) {
      const response = await this.#post(remaining);
      if (response === null) {
        return 0;
      }
      if (response.status >= 200 && response.status < 300) {
        this.#events.acknowledge(remaining);
        return null;
      }
      if (response.status >= 500 || RETRIED_STATUSES.includes(response.status)) {
        return this.#postpone(remaining, response);
      }
      remaining = this.#dropRefused(remaining, response);
      if (response.status === 401) {
        // The key does not become valid by asking.
        this.pausedUntil = performance.now() + UNAUTHORIZED_PAUSE_MS;
        return UNAUTHORIZED_PAUSE_MS;
      }
    }
    return null;
  }

  /**
   * Post a batch; without an answer keep it and return null.
   *
   * @param {Batch} batch
   */
  async #post(batch) {
    try {
      return await this.#http.request({
        method: 'POST',
        path: contract.paths.telemetry,
        body: batch.body(),
        headers: {
          Authorization: `Bearer ${this.#options.apiKey.reveal()}`,
          ...batch.headers(),
        },
        timeoutMs: this.#options.timeout,
      });
    } catch (error) {
      this.#notices.warn('failure', reasonOf(error));
      if (!(error instanceof ServiceUnreachable)) {
        batch.isUnanswered = batch.isFixed = true;
      }
      this.#retry(batch, 1);
      return null;
    }
  }

  /**
   * Keep a batch for which the service had no time; return the delay that it asks for.
   *
   * @param {Batch} batch
   * @param {HttpResponse} response
   */
  #postpone(batch, response) {
    this.#notices.warn('failure', `status ${response.status}`);
    const delayMs = retryAfterMs(response.header('retry-after'));
    if (response.status >= 500) {
      // What failed may have been the answer, of the service or of what stands in front of it. A 503 says that it was
      // not, but the service cannot know when it loses its database.
      batch.isUnanswered = true;
      batch.isFixed ||= response.status !== 503;
    }
    // A limit that says when it ends is no failure of the events: they wait for as long.
    const isLimit = response.status === 429 && delayMs > 0;
    this.#retry(batch, isLimit ? 0 : 1);
    return delayMs;
  }

  /**
   * Drop the events that a refusal names, or else the whole batch; return a batch of those that remain.
   *
   * @param {Batch} batch
   * @param {HttpResponse} response
   */
  #dropRefused(batch, response) {
    const quota = exceededQuota(response);
    this.#notices.warn(quota ? 'quota' : 'failure', quota ?? `status ${response.status}`);
    const named = refusedIndexes(response, batch.events.length);
    const kept = named.size ? batch.events.filter((_event, index) => !named.has(index)) : [];
    const count = batch.events.length - kept.length;
    if (REFUSED_FOR_CONTENT.includes(response.status)) {
      batch.isUnanswered = false;
    }
    const remaining = this.#events.split(batch, kept, countedEvents(response, count));
    this.#notices.announceLoss('refused', count, { isWarned: quota !== null });
    return remaining;
  }

  /**
   * Keep a batch for its next try, or drop it if it was tried often enough.
   *
   * @param {Batch} batch
   * @param {number} failures
   */
  #retry(batch, failures) {
    if (batch.countFailures(failures) >= this.#options.maxAttempts) {
      this.#drop(batch, 'undelivered');
    } else if (this.isClosing) {
      this.#drop(batch, 'shutdown');
    } else {
      this.#notices.announceLoss('queue_full', this.#events.keep(batch));
    }
  }

  /**
   * @param {Batch} batch
   * @param {string} reason
   */
  #drop(batch, reason) {
    this.#events.drop(batch, reason);
    this.#notices.announceLoss(reason, batch.events.length);
  }
}

/** @param {unknown} error */
function reasonOf(error) {
  if (error instanceof ServiceUnavailable) {
    return error.message;
  }
  return error instanceof Error ? error.name : 'error';
}
