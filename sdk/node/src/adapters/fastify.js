/** The plugin for Fastify 5. */

import { instrument } from './http.js';
import { asBuffer, readChunk } from './http_parameters.js';
import { resumeStream } from './streams.js';

/** @typedef {import('../exchange.js').Exchange} Exchange */

/**
 * Return the plugin.
 * @param {import('../instrumentation.js').Instrumentation} instrumentation
 * @returns {(instance: any, options: object, done: (error?: Error) => void) => void}
 */
export function fastifyAdapter(instrumentation) {
  /** @type {WeakMap<object, Exchange>} */
  const exchanges = new WeakMap();

  /**
   * @param {any} instance
   * @param {object} _
   * @param {() => void} done
   */
  function agentFeedback(instance, _, done) {
    if (instrumentation.isActive) {
      instance.addHook('onRequest', (/** @type {any} */ request, /** @type {any} */ reply, /** @type {any} */ next) => {
        const keep = (/** @type {Exchange} */ exchange) => exchanges.set(request, exchange);
        const details = { source: request, clientIp: () => request.ip, keep };
        if (instrument(instrumentation, request.raw, reply.raw, details)) {
          reply.hijack();
        } else {
          next();
        }
      });
      instance.addHook('onSend', (/** @type {any} */ request, /** @type {any} */ reply, /** @type {any} */ payload) => {
        const exchange = exchanges.get(request);
        return exchange ? modifyReply(exchange, reply, payload) : Promise.resolve(payload);
      });
    }
    done();
  }

  // The hooks are for the whole application, and not only for what the plugin itself would register.
  return Object.assign(agentFeedback, {
    [Symbol.for('skip-override')]: true,
    [Symbol.for('fastify.display-name')]: 'agent-feedback',
    [Symbol.for('plugin-meta')]: { name: 'agent-feedback', fastify: '5.x' },
  });
}

/**
 * Resolve to the payload that is sent.
 * @param {Exchange} exchange
 * @param {any} reply
 * @param {any} payload
 */
async function modifyReply(exchange, reply, payload) {
  const head = exchange.readHead(reply.statusCode, Object.entries(reply.getHeaders()));
  const content = head && (await readPayload(payload, head.length, exchange.maxBodyBytes));
  if (!head || !content?.body) {
    changeHeaders(reply, exchange.headerChanges(null));
    return content ? content.payload : payload;
  }
  const modification = await exchange.modify(head, content.body);
  changeHeaders(reply, modification?.headers ?? null);
  return modification?.body ? asBuffer(modification.body) : content.payload;
}

/**
 * Read a payload that is complete, or a stream of a declared length; `payload` is what to send in its place.
 * @param {any} payload
 * @param {number | null} length
 * @param {number} limit
 * @returns {Promise<{body: Uint8Array | null, payload: any}>}
 */
async function readPayload(payload, length, limit) {
  if (typeof payload?.pipe !== 'function') {
    return { body: readChunk([payload ?? '']).chunk, payload };
  }
  if (length === null) {
    return { body: null, payload };
  }
  const iterator = payload[Symbol.asyncIterator]();
  const chunks = [];
  let size = 0;
  let result = await iterator.next();
  while (!result.done && size + result.value.length <= limit) {
    chunks.push(Buffer.from(result.value));
    size += result.value.length;
    result = await iterator.next();
  }
  if (!result.done) {
    const rest = () => iterator.next();
    return { body: null, payload: resumeStream([...chunks, result.value], rest, () => payload.destroy()) };
  }
  // Fastify would correct the declared length of a buffer, true or not.
  return {
    body: Buffer.concat(chunks),
    payload: resumeStream(
      chunks,
      async () => ({ done: true }),
      () => {},
    ),
  };
}

/**
 * @param {any} reply
 * @param {import('../header_changes.js').HeaderChanges | null} changes
 */
function changeHeaders(reply, changes) {
  changes?.removed.forEach((name) => {
    reply.removeHeader(name);
    reply.raw.removeHeader(name);
  });
  changes?.values.forEach((value, name) => reply.header(name, value));
}
