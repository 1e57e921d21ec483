/** Build the action that a response carries for the agent from the context request of the product's code. */

import { newInteractionId } from '../interaction_id.js';
import { contract } from '../protocol.js';
import { rewriteUrls } from '../relay.js';
import { newSignedInteraction } from './interaction.js';
import { ContextSlot, hasCustomer, keepSlot } from './slot.js';

/**
 * @typedef {object} PendingAction a context request with the interaction that it belongs to
 * @property {import('./slot.js').ContextRequest} contextRequest
 * @property {string} interactionId
 * @property {string} operation
 * @property {string} mount the path under which the product is mounted
 * @property {[string, string][]} headers of a response that carries the action
 */

/**
 * @typedef {object} ResponseFacts the response that is about to be sent
 * @property {string} surface
 * @property {number} statusCode
 * @property {number} durationMs
 * @property {Record<string, string>} references what the company's callbacks say, by telemetry's names
 * @property {Record<string, string>} observation of the request
 */

/** Requests actions from the service for the responses of one adapter. */
export class ContextActions {
  #customerContext;
  #key;

  /**
   * @param {import('./interaction.js').SigningKey} key the company key
   * @param {import('./index.js').CustomerContext} customerContext
   */
  constructor(key, customerContext) {
    this.#key = key;
    this.#customerContext = customerContext;
  }

  /**
   * Prepare for a context request of the product's code, before it runs.
   * @param {object[]} requests the objects that may stand for the request in the product's code
   * @param {{method: string, path: string, mount: string, header: import('./slot.js').HeaderLookup}} facts `path` is
   *   decoded and includes the mount
   * @returns {ContextSlot}
   */
  addSlot(requests, facts) {
    const slot = new ContextSlot(facts, this.#key);
    for (const request of requests) {
      keepSlot(request, slot);
    }
    return slot;
  }

  /**
   * Return the action that the product's code has requested, if any; by default for the request's operation.
   * @param {ContextSlot} slot
   * @param {string} operation
   * @returns {PendingAction | null}
   */
  findPending(slot, operation) {
    const { contextRequest, mount } = slot;
    if (contextRequest === null) {
      return null;
    }
    const pending = { contextRequest, operation: contextRequest.operation ?? operation, mount };
    if (hasCustomer(contextRequest)) {
      return { ...pending, interactionId: newInteractionId(), headers: [] };
    }
    const interactionId = newSignedInteraction(this.#key, slot.route);
    return { ...pending, interactionId, headers: [[contract.headers.contextInteraction, interactionId]] };
  }

  /**
   * Resolve to the member `_service` with URLs on the company's origin; to null if nothing may be asked of the agent.
   * @param {PendingAction} pending
   * @param {ResponseFacts} response
   * @returns {Promise<Record<string, unknown> | null>}
   */
  async build(pending, { surface, statusCode, durationMs, references, observation }) {
    const content = await this.#customerContext.requestEnrichment({
      ...pending.contextRequest,
      operation: pending.operation,
      interactionId: pending.interactionId,
      surface,
      statusCode,
      durationMs,
      sessionRef: references.sessionRef,
      runtimeHint: references.runtimeHint,
      requestObservation: Object.keys(observation).length ? observation : null,
    });
    const action = /** @type {Record<string, unknown> | null} */ (rewriteUrls(content, pending.mount));
    return action?.submit || action?.consent ? { [contract.members.customerContext]: action } : null;
  }
}
