/** Wait for the telemetry of a response, as the service shows it. */
export declare const WAIT_MS = 10000;
/**
 * Resolve to the interaction as soon as its telemetry is there, or to null.
 *
 * @param {string} endpoint
 * @param {string} interactionId
 * @param {string} authorization
 * @returns {Promise<Record<string, any> | null>}
 */
export declare function waitForInteraction(endpoint: string, interactionId: string, authorization: string): Promise<Record<string, any> | null>;
