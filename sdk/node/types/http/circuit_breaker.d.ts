/** Stop calling a service for a while after a failure. */
/** Open for some time after a failure; then one caller tries the service again while the others wait. */
export declare class CircuitBreaker {
    #private;
    /** @param {number} pauseMs */
    constructor(pauseMs: number);
    /** Tell whether the caller must not call; the first caller after the time is up gets false and may try. */
    isOpen(): boolean;
    /**
     * Stop the calls from now on, for longer than usual if that is asked for.
     *
     * @param {number} [leastMs]
     */
    open(leastMs?: number): void;
    /** Allow all calls again. */
    close(): void;
}
