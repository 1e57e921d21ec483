/** The tools of a person's own agent, and the envelopes that they may act on. */

import { discover, fetchPage, fromResponse } from '../agent/index.js';
import { encodeBase64url } from '../base64url.js';
import { InvalidOption } from '../errors.js';
import { instructions } from '../protocol.js';
import { findReasons } from './why.js';

/**
 * @typedef {import('../agent/index.js').Received} Received
 * @typedef {Record<string, any>} JsonObject
 */

/** Of more envelopes, the one that was used least recently is forgotten. */
const MAX_ENVELOPES = 100;
const ID_BYTES = 9;

/** The tools, by the names of the protocol. */
export class AgentTools {
  #allowedOrigins;
  /** @type {Map<string, Received>} */
  #envelopes = new Map();

  /** @type {Record<string, (values: any) => Promise<JsonObject>>} */
  #tools = {
    inspect_product_feedback: (values) => this.#inspect(values),
    decide_product_feedback: (values) => this.#decide(values),
    submit_product_outcome: ({ envelopeId, outcome, note, preview }) => {
      const received = this.#find(envelopeId);
      return preview ? received.previewOutcome(outcome, note) : received.submitOutcome(outcome, note);
    },
    submit_product_report: ({ envelopeId, report, preview }) => {
      const received = this.#find(envelopeId);
      return preview ? received.previewReport(report) : received.submitReport(report);
    },
    answer_customer_context: ({ envelopeId, items, status }) => this.#find(envelopeId).answer(items, { status }),
  };

  /** @param {string[]} allowedOrigins */
  constructor(allowedOrigins) {
    this.#allowedOrigins = allowedOrigins;
  }

  /**
   * Call a tool.
   *
   * @param {string} name
   * @param {JsonObject} values
   * @returns {Promise<JsonObject>}
   */
  async call(name, values) {
    return /** @type {(values: any) => Promise<JsonObject>} */ (this.#tools[name])(values);
  }

  /**
   * Fetch a URL, or parse the text of a response; answers to its request for context go to its `url`.
   *
   * @param {{url?: string, headers?: Record<string, string>, response?: string | JsonObject}} values
   */
  async #inspect({ url, headers, response }) {
    const allowedOrigins = this.#allowedOrigins;
    if (response !== undefined && response !== null) {
      return this.#describe(await fromResponse(response, { allowedOrigins, ...(url ? { url } : {}) }), []);
    }
    if (!url) {
      throw new InvalidOption('either url or response is needed');
    }
    const page = await fetchPage(url, headers ? { headers } : {});
    const received = await discover(page, { allowedOrigins });
    const reasons = received?.place ? [] : findReasons(page).map(({ sentence }) => sentence);
    return this.#describe(received, reasons);
  }

  /**
   * Send a decision on the question that stands, or, where the user has asked for it, on a standing choice.
   *
   * @param {{envelopeId: string, decision: string, userAskedToChange?: boolean}} values
   */
  async #decide({ envelopeId, decision, userAskedToChange = false }) {
    const received = this.#find(envelopeId);
    if (received.question === null && !userAskedToChange) {
      throw new InvalidOption('no question stands; an earlier choice is changed only if the user asks for it');
    }
    const { state = null } = await received.decide(decision);
    return { decision: state, ...summary(received) };
  }

  /**
   * Return what a response asks for, under an id of its own, after asking the service about it.
   *
   * @param {Received | null} received
   * @param {string[]} reasons
   * @returns {Promise<JsonObject>}
   */
  async #describe(received, reasons) {
    if (received === null) {
      return { envelopeId: null, state: 'not_requested', reasons };
    }
    const { serviceOrigin, isAllowed, context } = received;
    /** @type {JsonObject} */
    const answer = { envelopeId: this.#keep(received), service: serviceOrigin };
    if (serviceOrigin && !isAllowed) {
      answer.notAllowed = notAllowed(serviceOrigin);
    } else if (serviceOrigin) {
      answer.productName = (await received.introspect()).productName ?? null;
    }
    return { ...answer, ...summary(received), ...(context ? { context: contextSummary(context) } : {}) };
  }

  /** @param {Received} received */
  #keep(received) {
    const id = encodeBase64url(crypto.getRandomValues(new Uint8Array(ID_BYTES)));
    this.#envelopes.set(id, received);
    for (const oldest of [...this.#envelopes.keys()].slice(0, -MAX_ENVELOPES)) {
      this.#envelopes.delete(oldest);
    }
    return id;
  }

  /** @param {string} envelopeId */
  #find(envelopeId) {
    const received = this.#envelopes.get(envelopeId);
    if (received === undefined) {
      throw new InvalidOption('there is no such envelopeId; inspect_product_feedback gives one');
    }
    this.#envelopes.delete(envelopeId);
    this.#envelopes.set(envelopeId, received);
    return received;
  }
}

/**
 * Return the state of an envelope and what may be done, in the words of the protocol.
 *
 * @param {Received} received
 */
function summary({ content, state, question, isAllowed }) {
  const instruction = Object.hasOwn(instructions, state) ? instructions[state] : null;
  /** @type {JsonObject} */
  const members = { state };
  if (typeof instruction === 'string') {
    Object.assign(members, { instruction, privacy: instructions.privacy });
  }
  if (question && isAllowed) {
    members.question = question;
  }
  if (content.submitOutcome) {
    members.outcome = content.submitOutcome.bodySchema;
  }
  if (content.submit) {
    members.report = content.submit.reportSchema;
  }
  if (content.manageConsent) {
    members.currentChoice = content.manageConsent.current;
  }
  return members;
}

/**
 * Return what a product asks for, with the protocol's instructions for its state and purpose.
 *
 * @param {import('../agent/index.js').ContextAction} action
 */
function contextSummary({ state, content, catalog }) {
  const { purpose = null, constraints = null } = content;
  const ofState = Object.hasOwn(instructions.context, state) ? instructions.context[state] : {};
  const texts = Object.hasOwn(ofState, purpose) ? ofState[purpose] : ofState;
  return {
    state,
    purpose,
    instruction: texts.stage ?? null,
    answerInstruction: texts.answer ?? null,
    constraints,
    catalog,
  };
}

/** @param {string} origin */
function notAllowed(origin) {
  return (
    `Nothing can be sent to ${origin}: the person who runs this server has not allowed it. ` +
    `--allow-origin ${origin} or AGENT_FEEDBACK_ALLOWED_ORIGINS does.`
  );
}
