/** The adapter for handlers of `fetch` style: Hono, Next, workers. It uses only what the web platform has. */

import { readRequest } from '../request.js';
import { resumeStream } from './streams.js';

/** @typedef {import('../exchange.js').Exchange} Exchange */
/** @typedef {import('../header_changes.js').HeaderChanges} HeaderChanges */
/** @typedef {import('../instrumentation.js').Instrumentation} Instrumentation */
/** @typedef {(request: Request, ...rest: any[]) => Response | Promise<Response>} Handler */

/**
 * @typedef {object} FetchSettings
 * @property {(request: Request, ...rest: any[]) => string | null | undefined} [clientIp]
 * @property {() => Promise<unknown>} settle waits for what goes on behind a response
 */

/**
 * Wrap a handler.
 * @param {Instrumentation} instrumentation
 * @param {Handler} handler
 * @param {FetchSettings} settings
 * @returns {(this: any, ...parameters: any[]) => Promise<Response>}
 */
export function fetchAdapter(instrumentation, handler, { clientIp = peerAddress, settle }) {
  return async function fetch(...parameters) {
    const [request, ...rest] = /** @type {[Request, ...any[]]} */ (parameters);
    if (!instrumentation.isActive) {
      return handler.call(this, request, ...rest);
    }
    const facts = attempt(instrumentation, () => describe(request, () => clientIp(request, ...rest)));
    const { relay } = instrumentation;
    if (facts && relay?.serves(facts.path)) {
      return answerRelay(relay, facts, request);
    }
    const exchange = facts && attempt(instrumentation, () => instrumentation.begin(facts));
    const response = await handler.call(this, request, ...rest);
    // What is no response is for the platform to refuse.
    const result = exchange && response?.headers ? await modifyResponse(exchange, response) : response;
    const context = rest.find((parameter) => typeof parameter?.waitUntil === 'function');
    context?.waitUntil(settle());
    return result;
  };
}

/**
 * @param {Request} request
 * @param {() => string | null | undefined} clientIp
 */
function describe(request, clientIp) {
  const { pathname, search } = new URL(request.url);
  return readRequest({
    source: request,
    method: request.method,
    target: pathname + search,
    header: (name) => request.headers.get(name),
    clientIp,
  });
}

/**
 * Return what a function returns, or null where it fails: the handler answers all the same.
 * @template T
 * @param {Instrumentation} instrumentation
 * @param {() => T} call
 * @returns {T | null}
 */
function attempt(instrumentation, call) {
  try {
    return call();
  } catch (error) {
    instrumentation.warn(error);
    return null;
  }
}

/**
 * Return the address of the peer where `@hono/node-server` says it.
 * @param {Request} _
 * @param {any} [env]
 */
function peerAddress(_, env) {
  return env?.incoming?.socket?.remoteAddress;
}

/**
 * @param {import('../relay.js').Relay} relay
 * @param {import('../request.js').Request} facts
 * @param {Request} request
 */
async function answerRelay(relay, { method, path, mount, header }, request) {
  const answer = await relay.answer({ method, path, mount, header, body: request.body });
  return new Response(/** @type {any} */ (answer.body), { status: answer.status, headers: answer.headers });
}

/**
 * Return the response that is sent.
 * @param {Exchange} exchange
 * @param {Response} response
 * @returns {Promise<Response>}
 */
async function modifyResponse(exchange, response) {
  const head = exchange.readHead(response.status, [...response.headers]);
  if (head === null || response.bodyUsed) {
    return rebuild(response, response.body, exchange.headerChanges(null));
  }
  const { bytes, rest } = response.body
    ? await readComplete(response.body, exchange.maxBodyBytes, head.length !== null)
    : { bytes: new Uint8Array(), rest: null };
  if (bytes === null) {
    return rebuild(response, rest, exchange.headerChanges(null), true);
  }
  const modification = await exchange.modify(head, bytes);
  const body = modification?.body ?? (response.body && bytes);
  return rebuild(response, body, modification?.headers ?? null, true);
}

/**
 * Return the response with another body or other headers, or itself.
 * @param {Response} response
 * @param {any} body
 * @param {HeaderChanges | null} changes
 * @param {boolean} [isRead] whether its own body was read, so that it cannot be sent
 * @returns {Response}
 */
function rebuild(response, body, changes, isRead = false) {
  if (changes === null && !isRead) {
    return response;
  }
  const headers = new Headers(response.headers);
  changes?.removed.forEach((name) => headers.delete(name));
  changes?.values.forEach((value, name) => headers.set(name, value));
  return new Response(body, { status: response.status, statusText: response.statusText, headers });
}

/**
 * Read a body that is complete already, or of a declared length; of any other one `rest` has all of it.
 *
 * The platform does not tell a complete body from a stream. A complete one ends before anything else can happen; a
 * stream that waits for anything does not.
 * @param {ReadableStream<Uint8Array>} body
 * @param {number} limit
 * @param {boolean} hasLength
 * @returns {Promise<{bytes: Uint8Array, rest: null} | {bytes: null, rest: ReadableStream<Uint8Array>}>}
 */
async function readComplete(body, limit, hasLength) {
  const pause = hasLength ? null : startPause();
  const reader = body.getReader();
  /** @type {Uint8Array[]} */
  const chunks = [];
  let size = 0;
  let reading = reader.read();
  const next = () => (pause ? Promise.race([reading, pause.end]) : reading);
  try {
    let result = await next();
    while (result && !result.done && size <= limit) {
      chunks.push(result.value);
      size += result.value.length;
      reading = reader.read();
      result = await next();
    }
    return result?.done
      ? { bytes: join(chunks, size), rest: null }
      : { bytes: null, rest: resume(chunks, reader, reading) };
  } finally {
    pause?.cancel();
  }
}

/** Return a promise that is kept as soon as other events have had their turn. */
function startPause() {
  const { setImmediate = setTimeout, clearImmediate = clearTimeout } = /** @type {any} */ (globalThis);
  /** @type {unknown} */
  let timer;
  /** @type {Promise<null>} */
  const end = new Promise((resolve) => {
    timer = setImmediate(() => resolve(null));
  });
  return { end, cancel: () => clearImmediate(timer) };
}

/**
 * Return a stream of what was read, and then the rest.
 * @param {Uint8Array[]} chunks
 * @param {ReadableStreamDefaultReader<Uint8Array>} reader
 * @param {Promise<{done: boolean, value?: Uint8Array | undefined}>} reading the read that is under way
 */
function resume(chunks, reader, reading) {
  const reads = [reading];
  return resumeStream(
    chunks,
    () => reads.shift() ?? reader.read(),
    (reason) => reader.cancel(reason),
  );
}

/**
 * @param {Uint8Array[]} chunks
 * @param {number} size
 * @returns {Uint8Array}
 */
function join(chunks, size) {
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}
