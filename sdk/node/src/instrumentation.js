/** Decides what becomes of each response of the product; the adapters read requests and write responses by it. */

import { applyCacheMode } from './cache.js';
import { ContextActions } from './context/actions.js';
import { observe } from './context/observation.js';
import { ENVELOPE, SERVICE, readShape } from './delivery.js';
import { contentKind, indexHeaders } from './eligibility.js';
import { encodeAscii } from './envelope.js';
import { discoveryLink, envelopeHeader } from './header.js';
import { Exchange } from './exchange.js';
import { Interaction } from './interaction.js';
import { PathRules } from './paths.js';
import { contract } from './protocol.js';
import { Relay } from './relay.js';
import { HeaderChanges } from './header_changes.js';
import { WarnOnce, kindOf } from './warn.js';

/** @typedef {import('./request.js').Request} Request */

const { headers: HEADERS } = contract;
const LENGTH = /^[0-9]+$/;
/**
 * The surfaces of enrichment requests.
 * @type {Record<string, string>}
 */
const CONTEXT_SURFACES = { json: 'http_json', html: 'html' };

/**
 * The start of a response that may be changed.
 * @typedef {object} ResponseHead
 * @property {number} statusCode
 * @property {Map<string, string>} headers by lower-case names
 * @property {'json' | 'html'} kind
 * @property {number | null} length the declared length of the body
 * @property {boolean} carriesEnvelope
 * @property {boolean} isModifiable whether the body may be read and replaced, beside the headers
 * @property {[string, string][]} addedHeaders those that the cache mode adds
 */

/**
 * What a response becomes.
 * @typedef {object} Modification
 * @property {HeaderChanges} headers
 * @property {Uint8Array | null} body null where it stays
 */

/** The rules of one process. */
export class Instrumentation {
  #services;
  #options;
  #callbacks;
  #paths;
  #link;
  #actions;
  #warnings = new WarnOnce();

  /**
   * @param {import('./interaction.js').Services} services
   * @param {import('./callbacks.js').Callbacks} callbacks
   * @param {import('./context/index.js').CustomerContext} customerContext
   */
  constructor(services, callbacks, customerContext) {
    const { options } = services;
    this.#services = services;
    this.#options = options;
    this.#callbacks = callbacks;
    this.#paths = new PathRules(options.include, options.exclude);
    this.#link = discoveryLink(options.endpoint);
    this.#actions = options.companyKey && new ContextActions(options.companyKey, customerContext);
    /** What agents answer to; null without a company key. */
    this.relay = options.companyKey && new Relay(options);
    /** Whether there is anything to do at all. */
    this.isActive = options.isEnabled && (options.mode !== 'off' || options.companyKey !== null);
    this.maxBodyBytes = options.maxBodyBytes;
  }

  /**
   * Begin with a request before the product sees it; null if its response passes untouched.
   * @param {Request} request
   * @returns {Exchange | null}
   */
  begin(request) {
    // The headers of a HEAD response describe a body that is not sent.
    const isReadable = request.method !== 'HEAD' || this.#options.cacheMode === 'request';
    if (!isReadable || !this.#paths.covers(request.path)) {
      return null;
    }
    const slot = this.#actions?.addSlot([request.source, ...request.aliases], request) ?? null;
    return new Exchange(this, request, slot);
  }

  /**
   * Return the start of a response that may be changed, or null for one that passes untouched.
   * @param {Exchange} exchange
   * @param {number} statusCode
   * @param {import('./eligibility.js').HeaderPairs} pairs
   * @returns {ResponseHead | null}
   */
  readHead({ request, slot }, statusCode, pairs) {
    const { mode, maxBodyBytes } = this.#options;
    const headers = indexHeaders(pairs);
    const kind = contentKind(statusCode, headers);
    const length = readLength(headers);
    const isAsking = asksForContext(request, slot);
    if (kind === null || Number(length) > maxBodyBytes || (mode === 'off' && !isAsking)) {
      return null;
    }
    const { carriesEnvelope, mayCarry, addedHeaders } = this.#readPolicy(request, headers);
    const isModifiable = carriesEnvelope || (isAsking && mayCarry);
    const head = { statusCode, headers, kind, length, carriesEnvelope, isModifiable, addedHeaders };
    return isModifiable || addedHeaders.length > 0 ? head : null;
  }

  /**
   * Return what cache mode and company allow for a response that is eligible.
   * @param {Request} request
   * @param {Map<string, string>} headers
   * @returns {{carriesEnvelope: boolean, mayCarry: boolean, addedHeaders: [string, string][]}} `mayCarry` tells whether the
   *   response may become one that no cache has
   */
  #readPolicy(request, headers) {
    const { mode, cacheMode } = this.#options;
    const { method, target } = request;
    const cache = applyCacheMode({ cacheMode, headers, method, target, request: request.header(HEADERS.request) });
    // What the product's code itself requests does not wait for an agent's header.
    const mayCarry = cache.hasEnvelope || cacheMode === 'request';
    if (mode === 'off') {
      return { carriesEnvelope: false, mayCarry, addedHeaders: [] };
    }
    const isWanted = this.#callbacks.shouldInstrument(request);
    const addedHeaders = cache.addedHeaders.filter(([name]) => isWanted || name !== 'Link');
    return { carriesEnvelope: isWanted && cache.hasEnvelope, mayCarry, addedHeaders };
  }

  /**
   * Return what a response becomes, and record its interaction; null leaves it as the product made it.
   *
   * It is a promise only where the product has requested context.
   * @param {Exchange} exchange
   * @param {ResponseHead} head
   * @param {Uint8Array} body the whole body
   * @param {number} durationMs
   * @returns {Modification | null | Promise<Modification | null>}
   */
  modify({ request, slot, startedAtMs }, head, body, durationMs) {
    const isTrue = head.length === null || head.length === body.length;
    const isRead = isTrue && body.length <= this.#options.maxBodyBytes && head.isModifiable;
    const shape = isRead ? readShape(head.kind, body) : null;
    if (shape === null) {
      return null;
    }
    const operation = this.#callbacks.operation(request);
    const references = this.#callbacks.references(request);
    const draft = { head, shape, operation, references, startedAtMs, durationMs };
    const pending = slot && shape.hasRoom(SERVICE) ? this.#actions?.findPending(slot, operation) : null;
    return pending ? this.#composeLater(draft, pending, request) : this.#compose(draft, null, null);
  }

  /**
   * @param {Draft} draft
   * @param {import('./context/actions.js').PendingAction} pending
   * @param {Request} request
   */
  async #composeLater(draft, pending, request) {
    const { head, references, durationMs } = draft;
    let action = null;
    try {
      action = await /** @type {ContextActions} */ (this.#actions).build(pending, {
        surface: CONTEXT_SURFACES[head.kind],
        statusCode: head.statusCode,
        durationMs: Math.round(durationMs * 1000) / 1000,
        references,
        observation: observe({ clientIp: request.clientIp(), method: request.method, header: request.header }),
      });
    } catch (error) {
      // An unusable answer of the service; the envelope leaves all the same.
      this.warn(error);
    }
    return this.#compose(draft, pending, action);
  }

  /**
   * @param {Draft} draft
   * @param {import('./context/actions.js').PendingAction | null} pending
   * @param {Record<string, unknown> | null} action
   * @returns {Modification | null}
   */
  #compose({ head, shape, operation, references, startedAtMs, durationMs }, pending, action) {
    const details = { surface: shape.surface, interactionId: pending?.interactionId, startedAtMs };
    const interaction = new Interaction(this.#services, operation, references, details);
    /** @type {Record<string, string>} */
    const members = {};
    const headers = new HeaderChanges(head.headers);
    const hasEnvelope = head.carriesEnvelope && addEnvelope(interaction, shape, members, headers);
    if (action && pending) {
      members[SERVICE] = encodeAscii(action);
      headers.addAll(pending.headers);
      // Once the service has accepted the product's own name for it.
      interaction.operation = pending.operation;
    }
    if (hasEnvelope) {
      headers.add('Link', this.#link);
      interaction.finish({ statusCode: head.statusCode, durationMs });
    }
    if (!hasEnvelope && !action) {
      return null;
    }
    const body = Object.keys(members).length > 0 ? shape.add(members) : null;
    headers.makePrivate();
    headers.replaceBody(body);
    return { headers, body };
  }

  /**
   * Warn once of each kind of error in a callback of the company, or in this package.
   * @param {unknown} error
   */
  warn(error) {
    const kind = kindOf(error);
    this.#warnings.warn(kind, `something was not added (${kind}); the rest of the response is as the product made it`);
  }
}

/**
 * @typedef {object} Draft a response that is being changed
 * @property {ResponseHead} head
 * @property {import('./delivery.js').Shape} shape
 * @property {string} operation
 * @property {Record<string, string>} references
 * @property {number} startedAtMs
 * @property {number} durationMs
 */

/**
 * Tell whether the product's code has requested context of whoever reads the response's body.
 * @param {Request} request
 * @param {import('./context/slot.js').ContextSlot | null} slot
 */
function asksForContext(request, slot) {
  return Boolean(slot?.contextRequest) && request.method !== 'HEAD';
}

/**
 * Put the envelope of an interaction where the body has room for it, or into the header; tell whether there is one.
 * @param {Interaction} interaction
 * @param {import('./delivery.js').Shape} shape
 * @param {Record<string, string>} members
 * @param {HeaderChanges} headers
 * @returns {boolean}
 */
function addEnvelope(interaction, shape, members, headers) {
  const hasRoom = shape.hasRoom(ENVELOPE);
  const envelope = hasRoom || shape.fallsBackToHeader ? interaction.encodedEnvelope() : null;
  if (envelope !== null && hasRoom) {
    members[ENVELOPE] = envelope;
    return true;
  }
  const value = envelope && envelopeHeader(envelope);
  if (value) {
    headers.set(HEADERS.envelope, value);
    interaction.surface = 'http_headers';
  }
  return Boolean(value);
}

/**
 * Return the declared length of a body: null without one, Infinity for one that cannot be read.
 * @param {Map<string, string>} headers
 * @returns {number | null}
 */
function readLength(headers) {
  const text = headers.get('content-length')?.trim();
  if (text === undefined) {
    return null;
  }
  return LENGTH.test(text) ? Number(text) : Infinity;
}
