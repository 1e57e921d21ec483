/** The agent's side of customer context: the action in a response, answered at the product's own origin. */
import { post } from './requests.js';
export type JsonObject = Record<string, any>;
export type AnswerItem = {
    key: string;
    value: string | number | boolean;
    provenance: string;
    /**
     * taken from the catalog
     */
    type?: string;
    confidence?: number;
    remember?: boolean;
    expiresAt?: string;
};
/**
 * @typedef {object} AnswerItem
 * @property {string} key
 * @property {string | number | boolean} value
 * @property {string} provenance
 * @property {string} [type] taken from the catalog
 * @property {number} [confidence]
 * @property {boolean} [remember]
 * @property {string} [expiresAt]
 */
/** A product's request for context, answered in the words of its catalog. */
export declare class ContextAction {
    #private;
    content: {
        [x: string]: any;
    };
    /**
     * @param {JsonObject} content
     * @param {string} responseUrl
     * @param {typeof post} [send] how a body is sent
     */
    constructor(content: JsonObject, responseUrl: string, send?: typeof post);
    /** The state of the request; in `answer_ready` an answer may be sent. */
    get state(): string;
    /** The service's instruction for this state. */
    get instruction(): string;
    /**
     * The fields that may be answered, each with its `key` and `allowedValues`.
     *
     * @returns {JsonObject[]}
     */
    get catalog(): JsonObject[];
    /**
     * Send an answer and resolve to the service's; the type of an item is taken from the catalog.
     *
     * Reject with `InvalidOption` for an answer that the action does not allow, `ServiceRefused` or `ServiceUnavailable`.
     * @param {AnswerItem[]} items
     * @param {{status?: string, signal?: AbortSignal}} [options]
     */
    answer(items: AnswerItem[], { status, signal }?: {
        status?: string;
        signal?: AbortSignal;
    }): Promise<Record<string, any>>;
    /**
     * Send the user's decision on such requests, `approved` or `declined`, and resolve to the service's answer.
     *
     * The service stores a refusal for every later request about the same customer.
     * @param {string} decision
     * @param {{remember?: boolean, signal?: AbortSignal}} [options]
     */
    decide(decision: string, { remember, signal }?: {
        remember?: boolean;
        signal?: AbortSignal;
    }): Promise<Record<string, any>>;
}
