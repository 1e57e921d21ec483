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
import { Context } from './context.js';
import { ContextFields } from './fields.js';
export { Context } from './context.js';
export type CallOptions = import('./client.js').CallOptions;
export type JsonObject = import('./client.js').JsonObject;
export type ContextRequest = import('./slot.js').ContextRequest;
export type CustomerReferences = import('./slot.js').CustomerReferences;
export type ContextItem = import('./context.js').ContextItem;
export type FieldDefinition = import('./fields.js').FieldDefinition;
export type Enrichment = {
    interactionId: string;
    surface: string;
    statusCode?: number | undefined;
    durationMs?: number | undefined;
    sessionRef?: string | null | undefined;
    runtimeHint?: string | null | undefined;
    requestObservation?: Record<string, string> | null | undefined;
};
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
export declare class CustomerContext {
    #private;
    fields: ContextFields;
    /**
     * @param {object} [settings] by default those of the environment
     * @param {string} [settings.companyKey]
     * @param {string} [settings.endpoint]
     * @param {number} [settings.timeout] in milliseconds, for a whole call; a call may override it
     * @param {import('./client.js').ContextAccess} [access] instead of settings
     */
    constructor(settings?: {
        companyKey?: string;
        endpoint?: string;
        timeout?: number;
    }, access?: import('./client.js').ContextAccess);
    /**
     * Return the client that these options describe; without a company key its calls fail.
     * @param {import('../options.js').Options} options
     * @returns {CustomerContext}
     */
    static fromOptions({ companyKey: key, endpoint, contextTimeout: timeout, isEnabled }: import('../options.js').Options): CustomerContext;
    /**
     * Have the response of this request carry a context request, if the adapter may modify the response.
     *
     * An `operation` that the service would refuse is replaced by that of the path.
     * @param {object} request of the product's framework
     * @param {ContextRequest} contextRequest
     */
    ask(request: object, contextRequest: ContextRequest): void;
    /**
     * Return the interaction that this request retries after its context request was answered, or null.
     * @param {object} request of the product's framework
     * @returns {string | null}
     */
    interaction(request: object): string | null;
    /**
     * Create an enrichment request, or repeat it, and resolve to its action with the service's URLs.
     * @param {ContextRequest & Enrichment & CallOptions} call
     * @returns {Promise<JsonObject | null>}
     */
    requestEnrichment({ raiseErrors, timeout, signal, ...members }: ContextRequest & Enrichment & CallOptions): Promise<JsonObject | null>;
    /**
     * Resolve to the context of a customer, of an interaction, or of both; empty without either.
     *
     * With the `request` of the product's framework, the interaction is the one that it retries, and nothing is known for
     * advertising where its privacy signal forbids that.
     * @param {CustomerReferences & CallOptions & {purpose: string, interactionId?: string | null, request?: object}} call
     * @returns {Promise<Context>}
     */
    context({ purpose, request, interactionId, raiseErrors, timeout, signal, ...references }: CustomerReferences & CallOptions & {
        purpose: string;
        interactionId?: string | null;
        request?: object;
    }): Promise<Context>;
    /**
     * Record a decision that used a context and resolve to it; to null without a retrieval, and after an error.
     * @param {CallOptions & {externalDecisionId: string, contextRetrievalId: string | null, signalIds: string[], variant?: string}} call
     * @returns {Promise<JsonObject | null>}
     */
    recordDecision({ raiseErrors, timeout, signal, ...body }: CallOptions & {
        externalDecisionId: string;
        contextRetrievalId: string | null;
        signalIds: string[];
        variant?: string;
    }): Promise<JsonObject | null>;
    /**
     * Record the outcome of a decision and resolve to it; to null without a decision, and after an error.
     * @param {CallOptions & {externalOutcomeId: string, decisionId: string | null | undefined, outcome: string, occurredAt?: string}} call
     * @returns {Promise<JsonObject | null>}
     */
    recordOutcome({ raiseErrors, timeout, signal, ...body }: CallOptions & {
        externalOutcomeId: string;
        decisionId: string | null | undefined;
        outcome: string;
        occurredAt?: string;
    }): Promise<JsonObject | null>;
}
