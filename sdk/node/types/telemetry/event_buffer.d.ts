/** A list from which events are taken at the front and to which they are added at either end. */
/** @template T */
export declare class EventBuffer<T> {
    #private;
    get length(): number;
    /** Return the first event, which stays. */
    first(): T;
    /** @param {T} event */
    push(event: T): void;
    /** Take the first event. */
    shift(): T;
    /**
     * Put events in front of all others.
     *
     * @param {T[]} events
     */
    unshift(events: T[]): void;
    clear(): void;
    toArray(): T[];
}
