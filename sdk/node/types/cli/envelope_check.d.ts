/** Check an envelope against the one that the protocol has for its state. */
export type JsonObject = Record<string, any>;
/**
 * Return how an envelope differs from the protocol's; empty for one that is as it should be.
 *
 * @param {JsonObject} content
 * @returns {string[]}
 */
export declare function findProblems(content: JsonObject): string[];
/**
 * Return the capability of an envelope, or an empty text.
 *
 * @param {JsonObject} content
 * @returns {string}
 */
export declare function findCapability(content: JsonObject): string;
/**
 * Return the address of the service that an envelope names, or null.
 *
 * @param {JsonObject} content
 * @returns {string | null}
 */
export declare function findEndpoint(content: JsonObject): string | null;
/**
 * Return the claims of a capability, unverified, or null for a text that is none.
 *
 * @param {string} capability
 * @returns {JsonObject | null}
 */
export declare function readClaims(capability: string): JsonObject | null;
