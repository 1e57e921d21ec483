/** Build the action that a response carries for the agent from the context request of the product's code. */
import { ContextSlot } from './slot.js';
export type PendingAction = {
    contextRequest: import('./slot.js').ContextRequest;
    interactionId: string;
    operation: string;
    /**
     * the path under which the product is mounted
     */
    mount: string;
    /**
     * of a response that carries the action
     */
    headers: [string, string][];
};
export type ResponseFacts = {
    surface: string;
    statusCode: number;
    durationMs: number;
    /**
     * what the company's callbacks say, by telemetry's names
     */
    references: Record<string, string>;
    /**
     * of the request
     */
    observation: Record<string, string>;
};
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
export declare class ContextActions {
    #private;
    /**
     * @param {import('./interaction.js').SigningKey} key the company key
     * @param {import('./index.js').CustomerContext} customerContext
     */
    constructor(key: import('./interaction.js').SigningKey, customerContext: import('./index.js').CustomerContext);
    /**
     * Prepare for a context request of the product's code, before it runs.
     * @param {object[]} requests the objects that may stand for the request in the product's code
     * @param {{method: string, path: string, mount: string, header: import('./slot.js').HeaderLookup}} facts `path` is
     *   decoded and includes the mount
     * @returns {ContextSlot}
     */
    addSlot(requests: object[], facts: {
        method: string;
        path: string;
        mount: string;
        header: import('./slot.js').HeaderLookup;
    }): ContextSlot;
    /**
     * Return the action that the product's code has requested, if any; by default for the request's operation.
     * @param {ContextSlot} slot
     * @param {string} operation
     * @returns {PendingAction | null}
     */
    findPending(slot: ContextSlot, operation: string): PendingAction | null;
    /**
     * Resolve to the member `_service` with URLs on the company's origin; to null if nothing may be asked of the agent.
     * @param {PendingAction} pending
     * @param {ResponseFacts} response
     * @returns {Promise<Record<string, unknown> | null>}
     */
    build(pending: PendingAction, { surface, statusCode, durationMs, references, observation }: ResponseFacts): Promise<Record<string, unknown> | null>;
}
