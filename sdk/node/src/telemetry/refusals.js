/** What a refused batch says: which events it names, whether it is a quota, and how many events it has counted. */

import { contract } from '../protocol.js';

/** @typedef {import("../http/client.js").HttpResponse} HttpResponse */

const EVENT_POINTER = new RegExp(contract.telemetry.eventPointer);
const COUNT = /^[0-9]{1,9}$/;
const QUOTA_NAME = /^[a-z_]{1,40}$/;

/**
 * Return the name of the quota for which a batch was refused, or null; no retry changes such an answer.
 *
 * @param {HttpResponse} response
 * @returns {string | null}
 */
export function exceededQuota(response) {
  const content = response.status === 403 ? response.json() : null;
  if (!isObject(content) || content.code !== 'quota_exceeded') {
    return null;
  }
  return typeof content.quota === 'string' && QUOTA_NAME.test(content.quota) ? content.quota : 'unnamed';
}

/**
 * Return the indexes of the events that a 400 or 422 names by pointer.
 *
 * Empty where a problem is not about one event of the batch: the whole batch is refused then.
 *
 * @param {HttpResponse} response
 * @param {number} size of the batch
 * @returns {Set<number>}
 */
export function refusedIndexes(response, size) {
  const content = contract.telemetry.splitStatuses.includes(response.status) ? response.json() : null;
  const errors = isObject(content) && Array.isArray(content.errors) ? content.errors : [];
  /** @type {Set<number>} */
  const indexes = new Set();
  for (const entry of errors) {
    const index = Number(EVENT_POINTER.exec(String(entry?.pointer))?.[1] ?? size);
    if (index >= size) {
      return new Set();
    }
    indexes.add(index);
  }
  return indexes;
}

/**
 * Return how many refused events the service says that it has counted, at most `limit`; 0 where it says nothing.
 *
 * @param {HttpResponse} response
 * @param {number} limit
 */
export function countedEvents(response, limit) {
  const text = response.header(contract.ledger.headers.refused) ?? '';
  return COUNT.test(text) ? Math.min(Number(text), limit) : 0;
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
