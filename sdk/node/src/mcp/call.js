/** One call of a business tool, from its start to the result with the envelope. */

import { Interaction } from '../interaction.js';
import { contract } from '../protocol.js';
import { openCall, requestAction } from './context.js';
import { addMembers, hasMember, isComplete } from './results.js';

const { surface: SURFACE, statusCode: STATUS_CODE, errorStatusCode: ERROR_STATUS_CODE } = contract.mcp;
const { envelope: ENVELOPE, service: SERVICE } = contract.members;

/**
 * @typedef {object} CallFacts
 * @property {string} operation
 * @property {Record<string, string>} references by telemetry's names
 * @property {any} extra of the SDK
 * @property {boolean} hasOutputSchema
 * @property {string | null} version of the protocol, null if unknown
 * @property {(error: unknown) => void} warn
 */

/** A call of a business tool. */
export class ToolCall {
  #feedback;
  #facts;
  #interaction;
  #slot;
  #startedAt = performance.now();

  /**
   * @param {any} feedback
   * @param {CallFacts} facts
   */
  constructor(feedback, facts) {
    this.#feedback = feedback;
    this.#facts = facts;
    this.#interaction = new Interaction(feedback, facts.operation, facts.references, { surface: SURFACE });
    this.#slot = openCall(feedback.options, facts.extra);
  }

  /**
   * Run the tool and resolve to its result, with the envelope; an exception of the tool is thrown unchanged.
   *
   * @param {() => any} runTool
   */
  async run(runTool) {
    let result;
    try {
      result = await runTool();
    } catch (error) {
      this.#recordException();
      throw error;
    }
    // A result that has the member is an answer of a server behind this one.
    if (!isComplete(result) || this.#isCancelled() || hasMember(result, ENVELOPE)) {
      return result;
    }
    try {
      return await this.#decorate(result);
    } catch (error) {
      this.#facts.warn(error);
      return result;
    }
  }

  /** @param {Record<string, any>} result */
  async #decorate(result) {
    const interaction = this.#interaction;
    const { references, hasOutputSchema, version } = this.#facts;
    const statusCode = result.isError ? ERROR_STATUS_CODE : STATUS_CODE;
    const durationMs = this.#durationMs();
    const call = { interaction, slot: this.#slot, references, statusCode, durationMs };
    const hasAction = hasMember(result, SERVICE);
    const action = hasAction ? null : await requestAction(this.#feedback.customerContext, call);
    const members = { [ENVELOPE]: interaction.envelope(), ...(action ? { [SERVICE]: action } : {}) };
    interaction.finish({ statusCode, durationMs });
    return addMembers(result, members, { hasOutputSchema, version });
  }

  #recordException() {
    // What was cancelled is not completed.
    if (!this.#isCancelled()) {
      this.#interaction.finish({ statusCode: ERROR_STATUS_CODE, durationMs: this.#durationMs() });
    }
  }

  #isCancelled() {
    return Boolean(this.#facts.extra?.signal?.aborted);
  }

  #durationMs() {
    return performance.now() - this.#startedAt;
  }
}
