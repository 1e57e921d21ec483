/** Check reviews, reports and decisions against the bounds that an envelope publishes. */
export type JsonObject = Record<string, any>;
/**
 * Return the body of a review, or throw `InvalidOption` with all that the bounds do not allow.
 * @param {unknown} outcome
 * @param {unknown} note
 * @param {any} bounds
 */
export declare function checkedOutcome(outcome: unknown, note: unknown, bounds: any): {
    outcome: unknown;
    note: unknown;
};
/**
 * Return the body of a report, or throw `InvalidOption` with all that the bounds do not allow.
 * @param {JsonObject} report
 * @param {any} bounds
 */
export declare function checkedReport(report: JsonObject, bounds: any): {
    [x: string]: any;
};
/**
 * Throw `InvalidOption` for a decision that the bounds do not allow.
 * @param {unknown} decision
 * @param {any} bounds
 */
export declare function checkDecision(decision: unknown, bounds: any): void;
