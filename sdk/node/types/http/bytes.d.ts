/** Read bodies up to a bound. */
/**
 * Return the bytes of a body, or null as soon as there are more than `limit`.
 *
 * @param {AsyncIterable<Uint8Array> | ReadableStream<Uint8Array> | null} body
 * @param {number} limit
 * @returns {Promise<Uint8Array | null>}
 */
export declare function readBounded(body: AsyncIterable<Uint8Array> | ReadableStream<Uint8Array> | null, limit: number): Promise<Uint8Array | null>;
