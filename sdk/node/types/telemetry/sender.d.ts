/** Sends batches of telemetry, and deals with the answers of the service. */
export type Batch = import("./batch.js").Batch;
export type HttpResponse = import("../http/client.js").HttpResponse;
export type SenderParts = {
    events: import("./event_queue.js").EventQueue;
    http: Pick<import("../http/client.js").HttpClient, "request">;
    notices: import("./notices.js").Notices;
    options: {
        apiKey: {
            reveal(): string;
        };
        timeout: number;
        maxAttempts: number;
    };
};
/**
 * @typedef {object} SenderParts
 * @property {import("./event_queue.js").EventQueue} events
 * @property {Pick<import("../http/client.js").HttpClient, "request">} http
 * @property {import("./notices.js").Notices} notices
 * @property {{apiKey: {reveal(): string}, timeout: number, maxAttempts: number}} options
 */
/** Sends one batch after the other. */
export declare class BatchSender {
    #private;
    /** Whether failed events are lost, since nothing is sent any more. */
    isClosing: boolean;
    /** Until when a 401 pauses, on the monotonic clock. */
    pausedUntil: number;
    /** @param {SenderParts} parts */
    constructor({ events, http, notices, options }: SenderParts);
    /**
     * Send a batch, without the events that the service refuses by name.
     *
     * Return null when every event is sent or dropped, or the least delay in milliseconds before the next request.
     *
     * @param {Batch} batch
     * @returns {Promise<number | null>}
     */
    send(batch: Batch): Promise<number | null>;
}
