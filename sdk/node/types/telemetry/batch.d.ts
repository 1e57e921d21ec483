/** A batch of telemetry: the events of one request, and of its repetitions. */
export type QueuedEvent = {
    /**
     * JSON
     */
    text: string;
    /**
     * how many requests with it have failed
     */
    failures: number;
    /**
     * when it is sent at the latest, on the monotonic clock
     */
    dueAt: number;
};
/**
 * @typedef {object} QueuedEvent
 * @property {string} text JSON
 * @property {number} failures how many requests with it have failed
 * @property {number} dueAt when it is sent at the latest, on the monotonic clock
 */
/**
 * Events that have failed equally often, and the losses that are reported with them.
 *
 * A repetition has the same id, events and report, so that the service counts it once.
 */
export declare class Batch {
    events: QueuedEvent[];
    report: import("./losses.js").LossReport;
    id: string;
    /** Whether the service may have stored it in spite of every answer so far. */
    isUnanswered: boolean;
    /** Whether it is repeated unchanged even when the queue is full. */
    isFixed: boolean;
    /**
     * @param {QueuedEvent[]} events
     * @param {import("./losses.js").LossReport} report
     */
    constructor(events: QueuedEvent[], report: import("./losses.js").LossReport);
    /** Return the body of the request. */
    body(): string;
    /** Return the headers of the request that say what it is a batch of. */
    headers(): Record<string, string>;
    /**
     * Add failures to every event, and return how many each has now.
     *
     * @param {number} failures
     */
    countFailures(failures: number): number;
}
