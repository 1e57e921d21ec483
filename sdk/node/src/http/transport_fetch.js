/** Send requests with the global `fetch`, for runtimes other than Node. */

import { ServiceUnavailable } from '../errors.js';
import { readBounded } from './bytes.js';
import { unavailable } from './failures.js';

/**
 * Send a request once, or throw `ServiceUnavailable`, `ServiceUnreachable` where nothing was sent.
 *
 * @param {import('./client.js').TransportRequest} request
 * @returns {Promise<import('./client.js').TransportResponse>}
 */
export async function send({ url, method, body, headers, maxResponseBytes, signal }) {
  try {
    const response = await fetch(url, { method, headers, body, redirect: 'manual', signal });
    const bytes = await readBounded(response.body, maxResponseBytes);
    if (bytes === null) {
      throw new ServiceUnavailable(`the answer is longer than ${maxResponseBytes} bytes`);
    }
    return { status: response.status, bytes, headers: Object.fromEntries(response.headers) };
  } catch (error) {
    throw unavailable(signal.aborted ? signal.reason : error);
  }
}
