/** What an agent has received in a response, and the feedback that may be sent for it. */
import { ContextAction } from './context_action.js';
export type JsonObject = Record<string, any>;
export type SendOptions = {
    signal?: AbortSignal;
};
export type AgentResponse = import('./response.js').AgentResponse;
/**
 * What an agent received in a response: the feedback envelope, a context action, or both.
 *
 * Every call rejects with `InvalidOption`, before anything is sent, for what the envelope does not allow; with
 * `ServiceRefused` for what the service refuses; with `ServiceUnavailable` if no answer arrives, also when asked again.
 */
export declare class Received {
    #private;
    /** The envelope as it stands; it follows what the service answers. */
    content: JsonObject;
    /** The context action, or null. */
    context: ContextAction | null;
    /** The headers to send when the same operation is retried after an answer. */
    retryHeaders: Record<string, string>;
    /** Where the envelope was: `header`, `json` or `html`. */
    place: string | null;
    /**
     * @param {object} members
     * @param {JsonObject | null} members.envelope
     * @param {readonly string[]} members.allowedOrigins
     * @param {ContextAction | null} [members.context]
     * @param {Record<string, string>} [members.retryHeaders]
     * @param {string | null} [members.place]
     */
    constructor({ envelope, allowedOrigins, context, retryHeaders, place }: {
        envelope: JsonObject | null;
        allowedOrigins: readonly string[];
        context?: ContextAction | null;
        retryHeaders?: Record<string, string>;
        place?: string | null;
    });
    /** The envelope's state: `feedback_ready` allows a review; `not_requested` stands for no envelope. */
    get state(): string;
    /**
     * The consent question to ask the user word for word, in the state `consent_required`.
     *
     * @returns {string | null}
     */
    get question(): string | null;
    /** The origin that feedback goes to, or null for an envelope without an action. */
    get serviceOrigin(): string | null;
    /** Whether feedback may be sent to the origin that the envelope names. */
    get isAllowed(): boolean;
    /**
     * Allow another origin, where its owner has agreed to it.
     *
     * @param {string} origin
     */
    allow(origin: string): void;
    /**
     * Answer the context action; see `ContextAction.answer`.
     *
     * @param {import('./context_action.js').AnswerItem[]} items
     * @param {{status?: string, signal?: AbortSignal}} [options]
     */
    answer(items: import('./context_action.js').AnswerItem[], options?: {
        status?: string;
        signal?: AbortSignal;
    }): Promise<Record<string, any>>;
    /**
     * Send the user's refusal of context requests; see `ContextAction.decide`.
     *
     * @param {SendOptions} [options]
     */
    declineContext(options?: SendOptions): Promise<Record<string, any>>;
    /**
     * Send the review and resolve to the service's answer.
     *
     * @param {string} outcome
     * @param {string} note
     * @param {SendOptions} [options]
     */
    submitOutcome(outcome: string, note: string, options?: SendOptions): Promise<Record<string, any>>;
    /**
     * Resolve to what the service would store of a review; it is checked like one that is sent, and not stored.
     *
     * @param {string} outcome
     * @param {string} note
     * @param {SendOptions} [options]
     */
    previewOutcome(outcome: string, note: string, options?: SendOptions): Promise<Record<string, any>>;
    /**
     * Send a report within the bounds of `content.submit.reportSchema` and resolve to the service's answer.
     *
     * @param {JsonObject} report
     * @param {SendOptions} [options]
     */
    submitReport(report: JsonObject, options?: SendOptions): Promise<Record<string, any>>;
    /**
     * Resolve to what the service would store of a report; it is checked like one that is sent, and not stored.
     *
     * @param {JsonObject} report
     * @param {SendOptions} [options]
     */
    previewReport(report: JsonObject, options?: SendOptions): Promise<Record<string, any>>;
    /**
     * Resolve to the service's own view of the capability, which counts before the consent question is asked.
     *
     * The content follows it: a question that is answered already disappears, and an approval brings its actions.
     * @param {SendOptions} [options]
     */
    introspect(options?: SendOptions): Promise<Record<string, any>>;
    /**
     * Send the user's decision, `approved` or `declined`, after an introspection; the content follows the answer.
     *
     * It answers the question of `requiredAction` while the service says that it stands, or, where the user has asked for
     * it, changes the choice of `manageConsent`.
     * @param {string} decision
     * @param {SendOptions} [options]
     */
    decide(decision: string, options?: SendOptions): Promise<Record<string, any>>;
}
/**
 * Resolve to the envelope and the context action of a response, or to null without either.
 *
 * `response` is one of `fetch`, a page of `fetchPage`, a parsed JSON object, or the bytes or the text of a body; the
 * latter three need the `url` of the response if a context action is to be answered. One of `fetch` is read from a copy.
 * @param {AgentResponse} response
 * @param {{allowedOrigins: readonly string[], url?: string}} options
 * @returns {Promise<Received | null>}
 */
export declare function fromResponse(response: AgentResponse, { allowedOrigins, url }: {
    allowedOrigins: readonly string[];
    url?: string;
}): Promise<Received | null>;
