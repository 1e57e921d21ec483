/** The bounded queue of telemetry events, and its account of every event. */
import { Batch } from './batch.js';
import { EventBuffer } from './event_buffer.js';
export type QueuedEvent = import("./batch.js").QueuedEvent;
/** @typedef {import("./batch.js").QueuedEvent} QueuedEvent */
export declare const BATCH_SIZE: any;
/** Events in the order in which they go, the batch that is being sent, and one that has failed and goes again. */
export declare class EventQueue {
    #private;
    /** How many events were put. */
    queued: number;
    /** How many events the service has accepted. */
    sent: number;
    /**
     * How many events were lost, by reason.
     *
     * @type {import("./losses.js").Counts}
     */
    dropped: import("./losses.js").Counts;
    /** @type {EventBuffer<QueuedEvent>} */
    events: EventBuffer<QueuedEvent>;
    /** @type {Batch | null} */
    sending: Batch | null;
    /**
     * Goes again before the events.
     *
     * @type {Batch | null}
     */
    waiting: Batch | null;
    /** @param {number} maxSize */
    constructor(maxSize: number);
    /** Tell whether every event was dealt with. */
    isEmpty(): boolean;
    /**
     * Append an event; return whether the oldest one was dropped for it.
     *
     * @param {QueuedEvent} event
     */
    append(event: QueuedEvent): boolean;
    /** Return the batch to be sent now, or null if there are no events. */
    takeBatch(): Batch | null;
    /**
     * Count a batch as sent.
     *
     * @param {Batch} batch
     */
    acknowledge(batch: Batch): void;
    /**
     * Keep a batch for its next try; return how many events were dropped because there was no space.
     *
     * @param {Batch} batch
     */
    keep(batch: Batch): number;
    /**
     * Drop a batch as refused except for some of its events, and return the batch of those.
     *
     * @param {Batch} batch
     * @param {QueuedEvent[]} events
     * @param {number} toldCount how many of the dropped events the service has counted itself
     */
    split(batch: Batch, events: QueuedEvent[], toldCount: number): Batch | null;
    /**
     * Drop a batch.
     *
     * @param {Batch} batch
     * @param {string} reason
     */
    drop(batch: Batch, reason: string): void;
    /**
     * Drop everything that is not being sent, and return the number of events.
     *
     * @param {string} reason
     */
    dropUnsent(reason: string): number;
    /**
     * Count dropped events, of which the service is to be told.
     *
     * @param {string} reason
     * @param {number} count
     */
    countDropped(reason: string, count: number): void;
    /** Return the number of dropped events. */
    totalDropped(): number;
    /** Return the dropped events by reason, without those of which the service has confirmed to have been told. */
    unreportedLosses(): Map<string, number>;
}
