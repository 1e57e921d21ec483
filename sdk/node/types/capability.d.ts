/** Capabilities, which let an agent send feedback on one interaction, and the subjects of consent. */
export type ProductKey = import('./keys.js').ProductKey;
/** @typedef {import('./keys.js').ProductKey} ProductKey */
export declare const LIFETIME_S: any;
export declare const NONCE_BYTES: any;
export type Claims = {
    interactionId: string;
    /**
     * seconds since 1970
     */
    issuedAt: number;
    nonce: Uint8Array;
    subject?: string | null;
    /**
     * of the decision that is cached for the subject; 0 is left out
     */
    revision?: number;
};
/**
 * The claims of a capability, in their order on the wire. New ones go last and are optional.
 * @typedef {object} Claims
 * @property {string} interactionId
 * @property {number} issuedAt seconds since 1970
 * @property {Uint8Array} nonce
 * @property {string | null} [subject]
 * @property {number} [revision] of the decision that is cached for the subject; 0 is left out
 */
/**
 * Return the capability of one interaction.
 * @param {ProductKey} key
 * @param {Claims} claims
 * @returns {string}
 */
export declare function mint(key: ProductKey, { interactionId, issuedAt, nonce, subject, revision }: Claims): string;
/**
 * Return the opaque id under which the service stores a customer's consent decision.
 * @param {string} scope
 * @param {string} reference
 * @returns {string}
 */
export declare function consentSubject(scope: string, reference: string): string;
