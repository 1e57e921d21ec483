/** The telemetry event of an interaction. */
export type EventDetails = {
    interactionId: string;
    occurredAtMs: number;
    surface: string;
    operation: string;
    statusCode?: number | undefined;
    durationMs?: number | undefined;
    /**
     * what the company's callbacks say, by telemetry's names
     */
    references?: Record<string, string>;
};
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
export declare function telemetryEvent({ interactionId, occurredAtMs, surface, operation, ...details }: EventDetails): {
    interactionId: string;
    surface: string;
    operation: string;
    classification: any;
    occurredAt: string;
    statusCode?: number | undefined;
    durationMs?: number | undefined;
};
/**
 * Return milliseconds with at most three decimals.
 *
 * @param {number} milliseconds
 */
export declare function roundDuration(milliseconds: number): number;
