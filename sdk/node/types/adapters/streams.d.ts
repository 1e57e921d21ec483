/** Streams of which a part was read. */
/**
 * Return a stream of what was read, and then the rest.
 * @param {Uint8Array[]} chunks
 * @param {() => Promise<{done?: boolean | undefined, value?: any}>} next reads on
 * @param {(reason?: unknown) => unknown} cancel
 * @returns {ReadableStream<Uint8Array>}
 */
export declare function resumeStream(chunks: Uint8Array[], next: () => Promise<{
    done?: boolean | undefined;
    value?: any;
}>, cancel: (reason?: unknown) => unknown): ReadableStream<Uint8Array>;
