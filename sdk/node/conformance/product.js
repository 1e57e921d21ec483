/** What the products of the conformance suite have in common: their options, their routes and their control. */

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { AgentFeedback, InvalidOption } from '../src/index.js';

const CALLBACKS = ['customerRef', 'sessionRef', 'runtimeHint', 'operation', 'shouldInstrument'];
const CONTROL_PREFIX = '/_conformance/';
export const EMPTY_STATUSES = [204, 205, 304];
/** After so many events the process does something else, as it would between requests. */
const PUT_PAUSE = 10;

/**
 * What a route answers.
 * @typedef {object} Answer
 * @property {number} status
 * @property {[string, string][]} headers
 * @property {Buffer[]} chunks
 * @property {boolean} isStream
 * @property {boolean} isDeclared whether the declared length is another than that of the body
 * @property {boolean} fails after what is in `chunks`
 */

/** Make the SDK with the options of `$CONFORMANCE_OPTIONS`; end the process if one is malformed. */
function makeFeedback() {
  const given = Object.entries(JSON.parse(process.env.CONFORMANCE_OPTIONS ?? '{}'));
  try {
    return new AgentFeedback(Object.fromEntries(given.map(([name, value]) => [name, readOption(name, value)])));
  } catch (error) {
    if (!(error instanceof InvalidOption)) {
      throw error;
    }
    console.error(error.message);
    return process.exit(2);
  }
}

/**
 * @param {string} name
 * @param {any} value
 */
function readOption(name, value) {
  if (!CALLBACKS.includes(name) || typeof value !== 'string' || (name === 'runtimeHint' && value === 'user-agent')) {
    return value;
  }
  return (/** @type {any} */ request) =>
    name === 'shouldInstrument' ? readHeader(request, value) === '1' : readHeader(request, value);
}

/**
 * Return a header of a request of any framework.
 * @param {any} request
 * @param {string} name
 */
function readHeader({ headers }, name) {
  return headers.get?.(name) ?? headers[name.toLowerCase()];
}

export const feedback = makeFeedback();

const routes = new Map(
  JSON.parse(readFileSync(String(process.env.CONFORMANCE_ROUTES), 'utf8'), withoutNull).map(
    (/** @type {any} */ route) => [`${route.method} ${route.path}`, route],
  ),
);

/**
 * Return what the route of a request answers.
 * @param {string} method
 * @param {string} target
 * @param {any} request the framework's
 * @returns {Promise<Answer>}
 */
export async function answerRequest(method, target, request) {
  const path = target.split('?')[0];
  const route = routes.get(`${method} ${path}`) ?? routes.get(`${method} ${decode(path)}`);
  if (!route) {
    const body = Buffer.from('not found');
    return { ...describe({ status: 404, headers: [['Content-Type', 'text/plain']] }, [body]) };
  }
  await setTimeout(route.delayMs ?? 0);
  if (route.ask) {
    feedback.customerContext.ask(request, withReference(route.ask, request));
  }
  const chunks = route.chunks?.map((/** @type {string} */ chunk) => Buffer.from(chunk)) ?? [bodyOf(route)];
  if (route.context) {
    chunks[0] = await addContext(chunks[0], route.context, request);
  }
  return describe(route, chunks);
}

/**
 * @param {any} route
 * @param {Buffer[]} chunks
 * @returns {Answer}
 */
function describe(route, chunks) {
  const isStream = Boolean(route.chunks);
  const headers = [...(route.headers ?? [])];
  const length = route.declaredLength ?? (isStream ? null : chunks[0].length);
  if (length !== null && !EMPTY_STATUSES.includes(route.status)) {
    headers.push(['Content-Length', String(length)]);
  }
  const fails = Boolean(route.raises);
  const sent = fails && !isStream ? [chunks[0].subarray(0, chunks[0].length / 2)] : chunks;
  return { status: route.status, headers, chunks: sent, isStream, isDeclared: Boolean(route.declaredLength), fails };
}

/**
 * Return a member of JSON, or undefined, which leaves it out.
 * @param {string} _
 * @param {any} value
 */
function withoutNull(_, value) {
  return value ?? undefined;
}

/** @param {any} route */
function bodyOf({ bodyBase64, body }) {
  return bodyBase64 === undefined ? Buffer.from(body ?? '') : Buffer.from(bodyBase64, 'base64');
}

/** @param {string} path */
function decode(path) {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/**
 * @param {any} names whose member `userRef` names a header
 * @param {any} request
 */
function withReference({ userRef, ...members }, request) {
  return { ...members, userRef: userRef && readHeader(request, userRef) };
}

/**
 * @param {Buffer} body
 * @param {any} retrieval
 * @param {any} request
 */
async function addContext(body, retrieval, request) {
  const { items } = await feedback.customerContext.context({ ...withReference(retrieval, request), request });
  const known = items.map(({ key, value }) => ({ key, value }));
  return Buffer.from(JSON.stringify({ ...JSON.parse(body.toString() || '{}'), known }));
}

/**
 * Yield chunks one by one, and fail at the end if told so.
 * @param {Answer} answer
 */
export async function* chunksOf({ chunks, fails }) {
  for (const chunk of chunks) {
    await setImmediate();
    yield chunk;
  }
  if (fails) {
    await setImmediate();
    throw new Error('a route fails on purpose');
  }
}

/**
 * Return the body as a stream.
 * @param {Answer} answer
 */
export function streamOf(answer) {
  return Readable.from(chunksOf(answer), { objectMode: false });
}

/**
 * Return headers with a list for each name that is sent more than once.
 * @param {[string, string][]} pairs
 * @returns {Record<string, string | string[]>}
 */
export function groupHeaders(pairs) {
  /** @type {Record<string, string | string[]>} */
  const headers = {};
  for (const [name, value] of pairs) {
    headers[name] = name in headers ? [headers[name], value].flat() : value;
  }
  return headers;
}

/**
 * Serve a product on `$PORT` beside the suite's own requests; a SIGTERM ends it.
 * @param {(request: any, response: any) => unknown} listener
 */
export function createProductServer(listener) {
  const server = createServer((request, response) => {
    if (request.url?.startsWith(CONTROL_PREFIX)) {
      control(request, response);
    } else {
      listener(request, response);
    }
  });
  process.once('SIGTERM', async () => {
    server.close();
    await feedback.shutdown();
    console.log(JSON.stringify(feedback.telemetry.counters));
    process.exit(0);
  });
  return server;
}

/** @param {import('node:http').Server} server */
export function listen(server) {
  server.listen(Number(process.env.PORT), '127.0.0.1');
}

/**
 * @param {import('node:http').IncomingMessage} request
 * @param {import('node:http').ServerResponse} response
 */
async function control(request, response) {
  const body = JSON.parse(Buffer.concat(await request.toArray()).toString() || '{}');
  const action = CONTROLS[`${request.method} ${request.url}`];
  const content = action ? await action(body) : { error: 'There is nothing at this address.' };
  response.writeHead(action ? 200 : 404, { 'Content-Type': 'application/json' }).end(JSON.stringify(content));
}

/** @type {Record<string, (body: any) => unknown>} */
const CONTROLS = {
  [`POST ${CONTROL_PREFIX}put`]: async ({ count, perSecond }) => {
    await put(count, perSecond);
    return { put: count };
  },
  [`POST ${CONTROL_PREFIX}flush`]: async () => ({ flushed: await feedback.flush() }),
  [`GET ${CONTROL_PREFIX}counters`]: () => feedback.telemetry.counters,
};

/**
 * Put events through the manual API, evenly over time, or as fast as possible without a rate.
 * @param {number} count
 * @param {number} [perSecond]
 */
async function put(count, perSecond) {
  const startedAt = performance.now();
  for (let number = 0; number < count; number += 1) {
    const delayMs = perSecond ? startedAt + (number * 1000) / perSecond - performance.now() : 0;
    if (delayMs > 1) {
      await setTimeout(delayMs);
    } else if (number % PUT_PAUSE === 0) {
      await setImmediate();
    }
    feedback.start('conformance.put').finish({ statusCode: 200, durationMs: 1 });
  }
}
