/** Results of tools: what is complete, and where members of this package go. */
export type Result = Record<string, any>;
/**
 * Tell whether a result ends its call: it is no task, and asks for no further input.
 *
 * @param {unknown} result
 * @returns {result is Result}
 */
export declare function isComplete(result: unknown): result is Result;
/**
 * Tell whether the structured content of a result has a member of its own.
 *
 * @param {Result} result
 * @param {string} name
 */
export declare function hasMember(result: Result, name: string): boolean;
/**
 * Return a result with further members: in its structured content, or in a text block of their own.
 *
 * Many clients show a model the structured content instead of the content, so one that is added has the tool's text as
 * `result`; where the content is more than text, nothing may hide it.
 * @param {Result} result
 * @param {Result} members
 * @param {{hasOutputSchema: boolean, version: string | null}} call `version` is that of the protocol, null if unknown
 * @returns {Result}
 */
export declare function addMembers(result: Result, members: Result, { hasOutputSchema, version }: {
    hasOutputSchema: boolean;
    version: string | null;
}): Result;
/**
 * @param {unknown} value
 * @returns {value is Record<string, any>}
 */
export declare function isObject(value: unknown): value is Record<string, any>;
