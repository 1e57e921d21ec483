/** Results of tools: what is complete, and where members of this package go. */

import { contract } from '../protocol.js';

/** @typedef {Record<string, any>} Result */

const { envelopeIn: PLACES } = contract.mcp;

/** Clients of an older version of the protocol read the content only. */
const FIRST_VERSION_WITH_STRUCTURED_CONTENT = '2025-06-18';

/**
 * Tell whether a result ends its call: it is no task, and asks for no further input.
 *
 * @param {unknown} result
 * @returns {result is Result}
 */
export function isComplete(result) {
  return isObject(result) && Array.isArray(result.content) && (result.resultType ?? 'complete') === 'complete';
}

/**
 * Tell whether the structured content of a result has a member of its own.
 *
 * @param {Result} result
 * @param {string} name
 */
export function hasMember(result, name) {
  return isObject(result.structuredContent) && Object.hasOwn(result.structuredContent, name);
}

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
export function addMembers(result, members, { hasOutputSchema, version }) {
  const place = hasOutputSchema ? PLACES.withOutputSchema : PLACES.withoutOutputSchema;
  const isRead = version === null || version >= FIRST_VERSION_WITH_STRUCTURED_CONTENT;
  const content = place === 'structuredContent' && isRead ? structuredContent(result) : null;
  if (content !== null) {
    return { ...result, structuredContent: { ...content, ...members } };
  }
  return { ...result, content: [...result.content, { type: 'text', text: JSON.stringify(members) }] };
}

/**
 * Return the structured content to add members to; null where there can be none.
 *
 * @param {Result} result
 * @returns {Result | null}
 */
function structuredContent(result) {
  if (result.structuredContent !== undefined && result.structuredContent !== null) {
    return isObject(result.structuredContent) ? result.structuredContent : null;
  }
  /** @type {{type: string, text: string}[]} */
  const blocks = result.content;
  if (blocks.some((block) => block.type !== 'text')) {
    return null;
  }
  return blocks.length ? { result: blocks.map((block) => block.text).join('\n') } : {};
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, any>}
 */
export function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
