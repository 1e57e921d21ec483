/** The telemetry queue: bounded, emptied in the background, and never in the way of a response. */
export type QueueOptions = {
    apiKey: {
        reveal(): string;
    };
    endpoint: string;
    flushInterval: number;
    maxQueueSize: number;
    timeout: number;
    maxAttempts: number;
    shutdownTimeout: number;
    onDrop?: ((reason: string, count: number) => unknown) | null;
};
export type Counters = {
    /**
     * how many were put
     */
    queued: number;
    /**
     * how many the service has accepted
     */
    sent: number;
    /**
     * how many were lost, by `queue_full`, `undelivered` (after `maxAttempts`),
     * `refused` (by the service), `unreadable` (no JSON) and `shutdown`
     */
    dropped: Record<string, number>;
};
/**
 * @typedef {object} QueueOptions
 * @property {{reveal(): string}} apiKey
 * @property {string} endpoint
 * @property {number} flushInterval
 * @property {number} maxQueueSize
 * @property {number} timeout
 * @property {number} maxAttempts
 * @property {number} shutdownTimeout
 * @property {((reason: string, count: number) => unknown) | null} [onDrop]
 */
/**
 * @typedef {object} Counters every event that was put, by what became of it
 * @property {number} queued how many were put
 * @property {number} sent how many the service has accepted
 * @property {Record<string, number>} dropped how many were lost, by `queue_full`, `undelivered` (after `maxAttempts`),
 *   `refused` (by the service), `unreadable` (no JSON) and `shutdown`
 */
/** Sends events in batches. Every process, cluster worker and worker thread has a queue of its own. */
export declare class TelemetryQueue {
    #private;
    /** @param {QueueOptions} options */
    constructor(options: QueueOptions);
    /**
     * What became of the events so far.
     *
     * @returns {Counters}
     */
    get counters(): Counters;
    /**
     * Queue an event. This neither waits nor throws.
     *
     * @param {object} event
     */
    put(event: object): void;
    /**
     * Send all queued events; resolve to whether all were sent or dropped within `timeout` milliseconds.
     *
     * While a 401 pauses sending it resolves at once.
     *
     * @param {{timeout?: number}} [options]
     * @returns {Promise<boolean>}
     */
    flush({ timeout }?: {
        timeout?: number;
    }): Promise<boolean>;
    /**
     * Send all queued events and stop; resolve to how many events were lost meanwhile.
     *
     * Losses of which the service was not told are logged: no batch follows that could tell it.
     *
     * @param {{timeout?: number}} [options]
     * @returns {Promise<number>}
     */
    shutdown(options?: {
        timeout?: number;
    }): Promise<number>;
    /**
     * Return the dropped events by reason, without those of which the service has confirmed to have been told.
     *
     * @returns {Record<string, number>}
     */
    unreportedLosses(): Record<string, number>;
    /** Send what is queued before the process ends, for at most `shutdownTimeout` in all. */
    finishBeforeExit(): Promise<void>;
    /** Lose what was not sent, and log losses of which the service was not told. This does not wait. */
    abandon(): void;
}
