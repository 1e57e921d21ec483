/** Wait for the telemetry of a response, as the service shows it. */

import { get } from '../agent/requests.js';
import { ServiceRefused } from '../errors.js';

export const WAIT_MS = 10_000;
const INTERVAL_MS = 500;
const INTERACTIONS = '/api/v2/interactions/';

/**
 * Resolve to the interaction as soon as its telemetry is there, or to null.
 *
 * @param {string} endpoint
 * @param {string} interactionId
 * @param {string} authorization
 * @returns {Promise<Record<string, any> | null>}
 */
export async function waitForInteraction(endpoint, interactionId, authorization) {
  const url = `${endpoint}${INTERACTIONS}${interactionId}`;
  const deadline = performance.now() + WAIT_MS;
  for (;;) {
    const interaction = await findInteraction(url, authorization);
    // A review may be there before, with a placeholder for what it is about.
    if (interaction?.occurredAt) {
      return interaction;
    }
    if (performance.now() >= deadline) {
      return null;
    }
    await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
  }
}

/**
 * @param {string} url
 * @param {string} authorization
 */
async function findInteraction(url, authorization) {
  try {
    return (await get(url, authorization)).interaction;
  } catch (error) {
    if (error instanceof ServiceRefused && error.status === 404) {
      return null;
    }
    throw error;
  }
}
