/**
 * The agent's side: read what a response requests, ask the user where it says so, and send feedback.
 *
 *     import { fromResponse } from 'agent-feedback/agent';
 *
 *     const received = await fromResponse(response, { allowedOrigins: ['https://feedback.example'] });
 *     if (received?.state === 'feedback_ready') {
 *       await received.submitOutcome('success', 'All twelve orders matched what the documentation promised.');
 *     }
 */

export { InvalidOption, ServiceError, ServiceRefused, ServiceUnavailable } from '../errors.js';
export { ContextAction } from './context_action.js';
export { discover } from './discovery.js';
export { Received, fromResponse } from './received.js';
export { fetchPage } from './requests.js';

/** @typedef {import('./context_action.js').AnswerItem} AnswerItem */
/** @typedef {import('./requests.js').Page} Page */
