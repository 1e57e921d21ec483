/** How long to wait before a request is repeated. */

import { contract } from '../protocol.js';

const MAX_DOUBLINGS = 10;
const MAX_RETRY_AFTER_MS = contract.telemetry.maxRetryAfterMs;

/** A date of HTTP begins with the name of a day; `Date.parse` alone reads nearly everything. */
const HTTP_DATE = /^[A-Za-z]{3,9},? /;

/**
 * Return the milliseconds to wait after so many failures in a row: doubled each time, bounded, and jittered.
 *
 * @param {number} failures
 * @param {{firstMs: number, maxMs: number, jitter: number[]}} bounds
 */
export function backoffMs(failures, { firstMs, maxMs, jitter }) {
  const doublings = Math.min(Math.max(failures - 1, 0), MAX_DOUBLINGS);
  const [least = 1, most = 1] = jitter;
  return Math.min(firstMs * 2 ** doublings, maxMs) * (least + Math.random() * (most - least));
}

/**
 * Return the milliseconds that a `Retry-After` asks for, given as seconds or as a date; 0 if it is unreadable.
 *
 * @param {string | null} text
 */
export function retryAfterMs(text) {
  const value = (text ?? '').trim();
  if (/^[0-9]+$/.test(value)) {
    return Math.min(Number(value) * 1000, MAX_RETRY_AFTER_MS);
  }
  const milliseconds = HTTP_DATE.test(value) ? Date.parse(value) - Date.now() : 0;
  return Number.isNaN(milliseconds) ? 0 : Math.min(Math.max(milliseconds, 0), MAX_RETRY_AFTER_MS);
}
