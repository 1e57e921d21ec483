/** How an envelope follows what the service says of it. */
export type JsonObject = Record<string, any>;
/** @typedef {Record<string, any>} JsonObject */
export declare const SENDING_ACTIONS: string[];
/**
 * Return the action for a decision: the answer to the question, or else the change of a choice.
 *
 * @param {JsonObject} content
 * @returns {JsonObject | null}
 */
export declare function submitDecision(content: JsonObject): JsonObject | null;
/**
 * Return an envelope in the state that the service has answered with.
 *
 * @param {JsonObject} content
 * @param {JsonObject} answer
 * @returns {JsonObject}
 */
export declare function followed(content: JsonObject, { state, feedback, submit, canonicalQuestion }: JsonObject): JsonObject;
/**
 * @param {unknown} value
 * @returns {value is JsonObject}
 */
export declare function isObject(value: unknown): value is JsonObject;
