/** What is known of a customer for one purpose. */
export type ContextItem = {
    signalId: string;
    key: string;
    type: string;
    value: string;
    summary: string;
    provenance: string;
    confidence: number | null;
    /**
     * empty for a value that an agent only inferred: it must not be used
     */
    allowedUses: readonly string[];
    remembered: boolean;
    expiresAt: string;
};
/**
 * @typedef {object} ContextItem one signal: a field of the catalog and its value
 * @property {string} signalId
 * @property {string} key
 * @property {string} type
 * @property {string} value
 * @property {string} summary
 * @property {string} provenance
 * @property {number | null} confidence
 * @property {readonly string[]} allowedUses empty for a value that an agent only inferred: it must not be used
 * @property {boolean} remembered
 * @property {string} expiresAt
 */
/** The signals that may be used for one purpose. */
export declare class Context {
    retrievalId: string | null;
    identityLevel: string | null;
    contextVersion: string | null;
    interactionId: string | null;
    items: readonly ContextItem[];
    /**
     * @param {object} [members]
     * @param {string | null} [members.retrievalId]
     * @param {string | null} [members.identityLevel]
     * @param {string | null} [members.contextVersion]
     * @param {string | null} [members.interactionId]
     * @param {readonly ContextItem[]} [members.items]
     */
    constructor({ retrievalId, identityLevel, contextVersion, interactionId, items }?: {
        retrievalId?: string | null;
        identityLevel?: string | null;
        contextVersion?: string | null;
        interactionId?: string | null;
        items?: readonly ContextItem[];
    });
    /** Whether nothing is known. */
    get isEmpty(): boolean;
    /** The ids of all signals, for `recordDecision`. */
    get signalIds(): string[];
    /**
     * Return the value of a field if there is one that may be used, or else null.
     *
     * @param {string} key
     * @returns {string | null}
     */
    value(key: string): string | null;
}
/**
 * Return the context of an answer of the service.
 *
 * @param {Record<string, any>} content
 */
export declare function readContext(content: Record<string, any>): Context;
