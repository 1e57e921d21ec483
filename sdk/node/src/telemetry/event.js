/** The telemetry event of an interaction. */

import { timestamp } from '../instants.js';
import { contract } from '../protocol.js';

const { surface: MCP_SURFACE, classification: MCP_CLASSIFICATION } = contract.mcp;

/**
 * @typedef {object} EventDetails
 * @property {string} interactionId
 * @property {number} occurredAtMs
 * @property {string} surface
 * @property {string} operation
 * @property {number | undefined} [statusCode]
 * @property {number | undefined} [durationMs]
 * @property {Record<string, string>} [references] what the company's callbacks say, by telemetry's names
 */

/**
 * Return the event; members without a value are left out.
 *
 * @param {EventDetails} details
 */
export function telemetryEvent({ interactionId, occurredAtMs, surface, operation, ...details }) {
  const { statusCode, durationMs, references } = details;
  return {
    interactionId,
    surface,
    operation,
    classification: surface === MCP_SURFACE ? MCP_CLASSIFICATION : 'unclassified',
    occurredAt: timestamp(occurredAtMs),
    ...(statusCode === undefined ? {} : { statusCode }),
    ...(durationMs === undefined ? {} : { durationMs: roundDuration(durationMs) }),
    ...references,
  };
}

/**
 * Return milliseconds with at most three decimals.
 *
 * @param {number} milliseconds
 */
export function roundDuration(milliseconds) {
  return Math.round(milliseconds * 1000) / 1000;
}
