/**
 * Telemetry events that were lost, until the service was told of them.
 *
 * A batch reports losses in its headers, and only a 2xx says that they arrived. Without an answer the service may have
 * stored the batch with its report. What depends on that is reported by the id of the batch, so that the service, which
 * remembers the ids of batches, counts it only if that batch never arrived.
 */
export type Counts = Map<string, number>;
/** @typedef {Map<string, number>} Counts the number of events by the reason of their loss */
/**
 * Add counts to others.
 *
 * @param {Counts} counts
 * @param {Iterable<[string, number]>} more
 */
export declare function addCounts(counts: Counts, more: Iterable<[string, number]>): Counts;
/** The losses that one batch reports. */
export declare class LossReport {
    counts: Counts;
    unanswered: Map<string, Counts>;
    /**
     * @param {Counts} [counts] lost for certain
     * @param {Map<string, Counts>} [unanswered] by the id of a batch without an answer: lost if that never arrived
     */
    constructor(counts?: Counts, unanswered?: Map<string, Counts>);
    /**
     * Return the headers of a batch that carries this report.
     *
     * @param {string} batchId
     * @returns {Record<string, string>}
     */
    headers(batchId: string): Record<string, string>;
}
/** The losses of a queue that the service was not told of. */
export declare class UnreportedLosses {
    #private;
    /**
     * Add events that are lost for certain.
     *
     * @param {string} reason
     * @param {number} count
     */
    add(reason: string, count: number): void;
    /**
     * Add what is lost if a batch without an answer never arrived.
     *
     * @param {string} batchId
     * @param {Counts} counts
     */
    addUnanswered(batchId: string, counts: Counts): void;
    /** Return the report of a new batch; until that was answered, no other batch reports the same counts. */
    take(): LossReport;
    /**
     * Take back the report of a batch that did not arrive.
     *
     * @param {LossReport} report
     */
    restore(report: LossReport): void;
    /**
     * Forget what was reported with a batch that has arrived.
     *
     * @param {LossReport} report
     */
    acknowledge(report: LossReport): void;
    /** Return the number of events by reason, except for those that a batch is reporting. */
    totals(): Map<string, number>;
}
