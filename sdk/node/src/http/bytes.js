/** Read bodies up to a bound. */

/**
 * Return the bytes of a body, or null as soon as there are more than `limit`.
 *
 * @param {AsyncIterable<Uint8Array> | ReadableStream<Uint8Array> | null} body
 * @param {number} limit
 * @returns {Promise<Uint8Array | null>}
 */
export async function readBounded(body, limit) {
  /** @type {Uint8Array[]} */
  const chunks = [];
  let size = 0;
  for await (const chunk of iterate(body)) {
    size += chunk.length;
    if (size > limit) {
      return null;
    }
    chunks.push(chunk);
  }
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

/**
 * @param {AsyncIterable<Uint8Array> | ReadableStream<Uint8Array> | null} body
 * @returns {AsyncIterable<Uint8Array>}
 */
async function* iterate(body) {
  if (body === null) {
    return;
  }
  if (Symbol.asyncIterator in body) {
    yield* body;
    return;
  }
  // Not every runtime can iterate over a web stream.
  const reader = /** @type {ReadableStream<Uint8Array>} */ (body).getReader();
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      yield part.value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
