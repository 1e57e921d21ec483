/** A wait that ends early when it is rung, and that never keeps a process alive. */
/** Timers fire at once for more than this. */
export declare const MAX_TIMER_MS: number;
export declare class Alarm {
    #private;
    /**
     * Wait for so many milliseconds, or until `ring`.
     *
     * @param {number} milliseconds
     * @returns {Promise<void>}
     */
    wait(milliseconds: number): Promise<void>;
    /** End the wait. */
    ring(): void;
}
