/** The context request of one HTTP request, from the product's code to the adapter that sends the response. */

import { contract } from '../protocol.js';
import { isSignedInteraction, routeOf } from './interaction.js';

const {
  contextInteraction: INTERACTION_HEADER,
  privacySignal: PRIVACY_HEADER,
  privacySignalValue: PRIVACY_VALUE,
} = contract.headers;

/** Not asked for, nor used, on requests with a privacy signal. */
const ADVERTISING = 'targeted_advertising';

/**
 * @typedef {object} CustomerReferences a customer, by opaque ids of the company's own; without any, only one
 *   interaction is meant
 * @property {string | null | undefined} [userRef]
 * @property {string | null | undefined} [accountRef]
 * @property {string | null | undefined} [anonymousRef]
 */

/**
 * @typedef {CustomerReferences & {purpose: string, remember?: boolean | undefined, fieldKeys?: string[] | null | undefined, operation?: string | null | undefined}} ContextRequest
 *   a request for customer context: for which purpose, about whom, and which fields of the catalog; the operation is by
 *   default that of the HTTP request
 */

/** @typedef {(name: string) => string | null | undefined} HeaderLookup */

/**
 * The slots by the objects that stand for their requests in the product's code.
 *
 * @type {WeakMap<object, ContextSlot>}
 */
const slots = new WeakMap();

/** What is known and requested of one HTTP request. */
export class ContextSlot {
  /**
   * What the product's code has requested.
   *
   * @type {ContextRequest | null}
   */
  contextRequest = null;

  /**
   * The interaction that the request retries after its context request was answered.
   *
   * @type {string | null}
   */
  retriedInteraction = null;

  /**
   * @param {{method: string, path: string, mount: string, header: HeaderLookup}} request `path` includes the mount
   * @param {import('./interaction.js').SigningKey} key
   */
  constructor({ method, path, mount, header }, key) {
    this.method = method;
    this.path = path;
    this.mount = mount;
    this.hasPrivacySignal = header(PRIVACY_HEADER) === PRIVACY_VALUE;
    const interactionId = header(INTERACTION_HEADER);
    if (interactionId && isSignedInteraction(interactionId, key, this.route)) {
      this.retriedInteraction = interactionId.toLowerCase();
    }
  }

  /** The method and the operation of the request, which an interaction id signs. */
  get route() {
    return routeOf(this.method, this.path);
  }

  /** Whether the response is made from one customer's context, so that no cache may have it. */
  get isRetry() {
    return this.retriedInteraction !== null;
  }

  /**
   * Store a context request, unless it is anonymous and this request retries one, or the user objects to its purpose.
   *
   * @param {ContextRequest} contextRequest
   */
  fill(contextRequest) {
    const isRepeated = this.isRetry && !hasCustomer(contextRequest);
    if (!isRepeated && !(this.hasPrivacySignal && contextRequest.purpose === ADVERTISING)) {
      this.contextRequest = contextRequest;
    }
  }
}

/**
 * Remember the slot of a request.
 *
 * @param {object} request
 * @param {ContextSlot} slot
 */
export function keepSlot(request, slot) {
  slots.set(request, slot);
}

/**
 * Return the slot of a request, or null; frameworks have the request that an adapter sees as a member of their own.
 *
 * @param {any} request
 * @returns {ContextSlot | null}
 */
export function findSlot(request) {
  for (const candidate of [request, request?.raw, request?.req, request?.req?.raw, request?.request]) {
    const slot = typeof candidate === 'object' && candidate !== null ? slots.get(candidate) : undefined;
    if (slot) {
      return slot;
    }
  }
  return null;
}

/**
 * Tell whether context for this purpose must not be used for a request.
 *
 * @param {any} request that of the product's framework, or null
 * @param {string} purpose
 */
export function isForbidden(request, purpose) {
  if (purpose !== ADVERTISING || !request) {
    return false;
  }
  return findSlot(request)?.hasPrivacySignal ?? readHeader(request, PRIVACY_HEADER) === PRIVACY_VALUE;
}

/**
 * @param {any} request
 * @param {string} name
 */
function readHeader(request, name) {
  const headers = (request.raw ?? request.req ?? request).headers ?? {};
  return typeof headers.get === 'function' ? headers.get(name) : headers[name.toLowerCase()];
}

/**
 * Tell whether any reference is given.
 *
 * @param {CustomerReferences} references
 */
export function hasCustomer({ userRef, accountRef, anonymousRef }) {
  return Boolean(userRef || accountRef || anonymousRef);
}
