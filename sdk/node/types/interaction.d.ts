/** Interactions: one response or tool call of the product, from its envelope to its telemetry. */
export type Services = {
    options: import('./options.js').Options;
    consent: {
        find(subject: string): {
            state: string;
            revision: number;
        };
    };
    telemetry: {
        put(event: object): void;
    };
};
export type Surface = 'http_json' | 'http_html' | 'http_headers' | 'mcp';
/**
 * What all interactions of a process share.
 * @typedef {object} Services
 * @property {import('./options.js').Options} options
 * @property {{find(subject: string): {state: string, revision: number}}} consent
 * @property {{put(event: object): void}} telemetry
 */
/** @typedef {'http_json' | 'http_html' | 'http_headers' | 'mcp'} Surface */
/**
 * One response or tool call of the product.
 *
 *     const interaction = feedback.start('checkout', { customerRef: 'account_42' });
 *     answer._agentFeedback = interaction.envelope();
 *     interaction.finish({ statusCode: 200, durationMs: 12.5 });
 *
 * `operation` and `surface` may be changed until it is finished.
 */
export declare class Interaction {
    #private;
    id: string;
    operation: string;
    /** @type {Surface} */
    surface: Surface;
    /**
     * @param {Services} services
     * @param {string} operation
     * @param {Record<string, string>} references by telemetry's names
     * @param {{surface?: Surface | undefined, interactionId?: string | undefined, startedAtMs?: number | undefined}} [details]
     *   `startedAtMs` is when the request began, where that was before
     */
    constructor(services: Services, operation: string, references: Record<string, string>, { surface, interactionId, startedAtMs }?: {
        surface?: Surface | undefined;
        interactionId?: string | undefined;
        startedAtMs?: number | undefined;
    });
    /**
     * Return the envelope for the response; null in the mode `off` and with the kill switch.
     * @returns {import('./envelope.js').Envelope | null}
     */
    envelope(): import('./envelope.js').Envelope | null;
    /**
     * Return `envelope()` as JSON, faster than by encoding it.
     * @returns {string | null}
     */
    encodedEnvelope(): string | null;
    /**
     * Put the interaction's telemetry event into the queue, once.
     * @param {{statusCode?: number | undefined, durationMs?: number | undefined}} [response]
     */
    finish({ statusCode, durationMs }?: {
        statusCode?: number | undefined;
        durationMs?: number | undefined;
    }): void;
}
