/** How long to wait before a request is repeated. */
/**
 * Return the milliseconds to wait after so many failures in a row: doubled each time, bounded, and jittered.
 *
 * @param {number} failures
 * @param {{firstMs: number, maxMs: number, jitter: number[]}} bounds
 */
export declare function backoffMs(failures: number, { firstMs, maxMs, jitter }: {
    firstMs: number;
    maxMs: number;
    jitter: number[];
}): number;
/**
 * Return the milliseconds that a `Retry-After` asks for, given as seconds or as a date; 0 if it is unreadable.
 *
 * @param {string | null} text
 */
export declare function retryAfterMs(text: string | null): number;
