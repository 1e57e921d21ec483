/** How an envelope follows what the service says of it. */

import { contract } from '../protocol.js';
import { serviceUrl } from './requests.js';

/** @typedef {Record<string, any>} JsonObject */

export const SENDING_ACTIONS = ['submitOutcome', 'submit'];

/**
 * Return the action for a decision: the answer to the question, or else the change of a choice.
 *
 * @param {JsonObject} content
 * @returns {JsonObject | null}
 */
export function submitDecision(content) {
  const action = content.requiredAction?.submitDecision ?? content.manageConsent;
  return isObject(action) ? action : null;
}

/**
 * Return an envelope in the state that the service has answered with.
 *
 * @param {JsonObject} content
 * @param {JsonObject} answer
 * @returns {JsonObject}
 */
export function followed(content, { state, feedback, submit, canonicalQuestion }) {
  const { requiredAction, ...others } = content;
  if (isObject(feedback)) {
    return feedback;
  }
  if (state === 'declined') {
    const kept = Object.entries(others).filter(([name]) => !SENDING_ACTIONS.includes(name));
    return { ...Object.fromEntries(kept), state: 'feedback_disabled' };
  }
  if (!requiredAction?.question) {
    return content;
  }
  if (state === 'feedback_ready') {
    return { ...others, state, ...(isObject(submit) ? sendingActions(submit) : {}) };
  }
  // The service's own words, whatever the product has made of them.
  const question = typeof canonicalQuestion === 'string' ? canonicalQuestion : requiredAction.question;
  return { ...others, requiredAction: { ...requiredAction, question } };
}

/**
 * Return the two actions of an approval of which an introspection names only that for reports.
 *
 * @param {JsonObject} submit
 */
function sendingActions(submit) {
  const { reportSchema, ...members } = submit;
  const url = serviceUrl(String(submit.url), 'outcomes');
  return { submitOutcome: { ...members, url, bodySchema: contract.outcomeBody }, submit: { ...members, reportSchema } };
}

/**
 * @param {unknown} value
 * @returns {value is JsonObject}
 */
export function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
