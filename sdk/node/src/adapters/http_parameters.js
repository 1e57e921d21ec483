/** The parameters that the methods of Node's responses take in several forms. */

/** @typedef {Map<string, {name: string, value: any}>} HeadHeaders headers by lower-case names */

/**
 * Return the parameters of `writeHead`.
 * @param {any[]} parameters
 * @returns {{status: number, reason: string | null, headers: HeadHeaders}}
 */
export function readHeadParameters([status, second, third]) {
  const reason = typeof second === 'string' ? second : null;
  const given = third ?? (reason === null ? second : null) ?? {};
  /** @type {HeadHeaders} */
  const headers = new Map();
  for (const [name, value] of Array.isArray(given) ? pairsOf(given) : Object.entries(given)) {
    const key = String(name).toLowerCase();
    const present = headers.get(key);
    headers.set(key, { name, value: present ? [present.value, value].flat() : value });
  }
  return { status: Number(status) | 0, reason, headers };
}

/**
 * Return status and headers of a response that is about to start.
 * @param {any} response
 * @param {any[] | null} headParameters
 * @returns {{status: number, pairs: [string, unknown][]}}
 */
export function readStart(response, headParameters) {
  const present = response.getHeaders();
  if (headParameters === null) {
    return { status: response.statusCode, pairs: Object.entries(present) };
  }
  const { status, headers } = readHeadParameters(headParameters);
  const kept = Object.entries(present).filter(([name]) => !headers.has(name));
  return { status, pairs: [...kept, ...Array.from(headers, ([name, { value }]) => pair(name, value))] };
}

/**
 * Tell whether the parameters of `end` have something to write.
 * @param {any[]} parameters
 */
export function hasChunk([chunk]) {
  return chunk !== null && chunk !== undefined && typeof chunk !== 'function';
}

/**
 * Return the parameters of `write` or `end`; the chunk is null where it is none that a response takes.
 * @param {any[]} parameters
 * @returns {{chunk: Buffer | null, callback: (() => void) | undefined}}
 */
export function readChunk([chunk, ...others]) {
  const callback = others.find((parameter) => typeof parameter === 'function');
  const [encoding] = others;
  if (typeof chunk === 'string') {
    return { chunk: Buffer.from(chunk, Buffer.isEncoding(encoding) ? encoding : 'utf8'), callback };
  }
  return { chunk: chunk instanceof Uint8Array ? asBuffer(chunk) : null, callback };
}

/**
 * Return bytes as a buffer, without copying them.
 * @param {Uint8Array} bytes
 * @returns {Buffer}
 */
export function asBuffer(bytes) {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * @param {any[]} list pairs, or names and values in turn
 * @returns {[string, any][]}
 */
function pairsOf(list) {
  if (Array.isArray(list[0])) {
    return list;
  }
  return Array.from({ length: Math.ceil(list.length / 2) }, (_, index) => [list[2 * index], list[2 * index + 1]]);
}

/**
 * @param {string} name
 * @param {unknown} value
 * @returns {[string, unknown]}
 */
function pair(name, value) {
  return [name, value];
}
