/**
 * Customer context: request it from customers' agents, retrieve it, and record what came of it.
 *
 *     const context = await feedback.customerContext.context({ purpose, userRef: 'user_42', request });
 *     if (context.isEmpty) {
 *       feedback.customerContext.ask(request, { purpose, userRef: 'user_42', remember: true });
 *     }
 *
 * Every call fails open: after an error `context` resolves to an empty `Context` and every other call to null. With
 * `raiseErrors: true` a call rejects with `ServiceUnavailable` or `ServiceRefused`.
 */

import { InvalidOption } from '../errors.js';
import { normalizeNamedOperation } from '../operation.js';
import { readCompanyKey, readEndpoint, readKillSwitch } from '../options.js';
import { contract } from '../protocol.js';
import { ContextClient } from './client.js';
import { Context, readContext } from './context.js';
import { ContextFields } from './fields.js';
import { findSlot, hasCustomer, isForbidden } from './slot.js';

export { Context } from './context.js';

/**
 * @typedef {import('./client.js').CallOptions} CallOptions
 * @typedef {import('./client.js').JsonObject} JsonObject
 * @typedef {import('./slot.js').ContextRequest} ContextRequest
 * @typedef {import('./slot.js').CustomerReferences} CustomerReferences
 * @typedef {import('./context.js').ContextItem} ContextItem
 * @typedef {import('./fields.js').FieldDefinition} FieldDefinition
 */

/**
 * @typedef {object} Enrichment of which interaction a context request is, and what was observed of it
 * @property {string} interactionId
 * @property {string} surface
 * @property {number | undefined} [statusCode]
 * @property {number | undefined} [durationMs]
 * @property {string | null | undefined} [sessionRef]
 * @property {string | null | undefined} [runtimeHint]
 * @property {Record<string, string> | null | undefined} [requestObservation]
 */

/** The client of customer context. */
export class CustomerContext {
  #client;

  /**
   * @param {object} [settings] by default those of the environment
   * @param {string} [settings.companyKey]
   * @param {string} [settings.endpoint]
   * @param {number} [settings.timeout] in milliseconds, for a whole call; a call may override it
   * @param {import('./client.js').ContextAccess} [access] instead of settings
   */
  constructor(settings = {}, access = readAccess(settings)) {
    this.#client = new ContextClient(access);
    this.fields = new ContextFields(this.#client, contract.paths.fields);
  }

  /**
   * Return the client that these options describe; without a company key its calls fail.
   * @param {import('../options.js').Options} options
   * @returns {CustomerContext}
   */
  static fromOptions({ companyKey: key, endpoint, contextTimeout: timeout, isEnabled }) {
    return new CustomerContext({}, { key, endpoint, timeout, isEnabled });
  }

  /**
   * Have the response of this request carry a context request, if the adapter may modify the response.
   *
   * An `operation` that the service would refuse is replaced by that of the path.
   * @param {object} request of the product's framework
   * @param {ContextRequest} contextRequest
   */
  ask(request, contextRequest) {
    const operation = normalizeNamedOperation(contextRequest.operation ?? null);
    findSlot(request)?.fill({ ...contextRequest, operation });
  }

  /**
   * Return the interaction that this request retries after its context request was answered, or null.
   * @param {object} request of the product's framework
   * @returns {string | null}
   */
  interaction(request) {
    return findSlot(request)?.retriedInteraction ?? null;
  }

  /**
   * Create an enrichment request, or repeat it, and resolve to its action with the service's URLs.
   * @param {ContextRequest & Enrichment & CallOptions} call
   * @returns {Promise<JsonObject | null>}
   */
  requestEnrichment({ raiseErrors, timeout, signal, ...members }) {
    const body = { remember: false, ...members };
    return this.#post('enrichment', body, asAnswered, null, { raiseErrors, timeout, signal });
  }

  /**
   * Resolve to the context of a customer, of an interaction, or of both; empty without either.
   *
   * With the `request` of the product's framework, the interaction is the one that it retries, and nothing is known for
   * advertising where its privacy signal forbids that.
   * @param {CustomerReferences & CallOptions & {purpose: string, interactionId?: string | null, request?: object}} call
   * @returns {Promise<Context>}
   */
  async context({ purpose, request, interactionId, raiseErrors, timeout, signal, ...references }) {
    const interaction = interactionId ?? (request ? this.interaction(request) : null);
    const hasSubject = hasCustomer(references) || interaction !== null;
    if (!hasSubject || isForbidden(request, purpose)) {
      return new Context();
    }
    const body = { purpose, ...references, interactionId: interaction };
    return this.#post('context', body, readContext, new Context(), { raiseErrors, timeout, signal });
  }

  /**
   * Record a decision that used a context and resolve to it; to null without a retrieval, and after an error.
   * @param {CallOptions & {externalDecisionId: string, contextRetrievalId: string | null, signalIds: string[], variant?: string}} call
   * @returns {Promise<JsonObject | null>}
   */
  async recordDecision({ raiseErrors, timeout, signal, ...body }) {
    return !body.contextRetrievalId
      ? null
      : this.#post('personalizationDecisions', body, (content) => content.decision, null, {
          raiseErrors,
          timeout,
          signal,
        });
  }

  /**
   * Record the outcome of a decision and resolve to it; to null without a decision, and after an error.
   * @param {CallOptions & {externalOutcomeId: string, decisionId: string | null | undefined, outcome: string, occurredAt?: string}} call
   * @returns {Promise<JsonObject | null>}
   */
  async recordOutcome({ raiseErrors, timeout, signal, ...body }) {
    return !body.decisionId
      ? null
      : this.#post('personalizationOutcomes', body, (content) => content.outcome, null, {
          raiseErrors,
          timeout,
          signal,
        });
  }

  /**
   * @template T
   * @param {string} path its name in the contract
   * @param {JsonObject} body
   * @param {(content: JsonObject) => T} parse
   * @param {T} fallback
   * @param {CallOptions} options
   * @returns {Promise<T>}
   */
  #post(path, body, parse, fallback, options) {
    return this.#client.call({ method: 'POST', path: contract.paths[path], body }, parse, fallback, options);
  }
}

/**
 * @param {{companyKey?: string, endpoint?: string, timeout?: number}} settings
 * @returns {import('./client.js').ContextAccess}
 */
function readAccess({ companyKey, endpoint, timeout = contract.options.contextTimeout.default }) {
  const key = readCompanyKey(companyKey);
  if (key === null) {
    throw new InvalidOption('companyKey (or AGENT_FEEDBACK_COMPANY_KEY) is needed');
  }
  return { key, endpoint: readEndpoint(endpoint), timeout, isEnabled: readKillSwitch() };
}

/**
 * @param {JsonObject} content
 * @returns {JsonObject | null}
 */
function asAnswered(content) {
  return content;
}
