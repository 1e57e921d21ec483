/** Streams of which a part was read. */

/**
 * Return a stream of what was read, and then the rest.
 * @param {Uint8Array[]} chunks
 * @param {() => Promise<{done?: boolean | undefined, value?: any}>} next reads on
 * @param {(reason?: unknown) => unknown} cancel
 * @returns {ReadableStream<Uint8Array>}
 */
export function resumeStream(chunks, next, cancel) {
  const pending = [...chunks];
  return new ReadableStream({
    async pull(controller) {
      const chunk = pending.shift();
      const { done, value } = chunk === undefined ? await next() : { done: false, value: chunk };
      if (done) {
        controller.close();
      } else {
        controller.enqueue(value);
      }
    },
    async cancel(reason) {
      await cancel(reason);
    },
  });
}
