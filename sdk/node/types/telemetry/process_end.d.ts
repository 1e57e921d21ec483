/** The end of a process, or of a worker thread: queues are emptied before it, as far as that is possible. */
export type Ending = {
    finishBeforeExit(): Promise<void>;
    abandon(): void;
};
/**
 * Have a queue emptied when the event loop has nothing left to do, and have its losses logged when the process ends.
 *
 * Other runtimes than Node have no such events; there the product calls `flush`.
 *
 * @param {Ending} queue
 */
export declare function watchProcessEnd(queue: Ending): void;
