/** What an agent has received in a response, and the feedback that may be sent for it. */

import { InvalidOption } from '../errors.js';
import { contract } from '../protocol.js';
import { ContextAction } from './context_action.js';
import { isSafe, originOf, post, serviceUrl } from './requests.js';
import { readMembers, readResponse } from './response.js';
import { SENDING_ACTIONS, followed, isObject, submitDecision } from './states.js';
import { checkDecision, checkedOutcome, checkedReport } from './validation.js';

/**
 * @typedef {Record<string, any>} JsonObject
 * @typedef {{signal?: AbortSignal}} SendOptions
 * @typedef {import('./response.js').AgentResponse} AgentResponse
 */

const INTERACTION_HEADER = contract.headers.contextInteraction;

/**
 * What an agent received in a response: the feedback envelope, a context action, or both.
 *
 * Every call rejects with `InvalidOption`, before anything is sent, for what the envelope does not allow; with
 * `ServiceRefused` for what the service refuses; with `ServiceUnavailable` if no answer arrives, also when asked again.
 */
export class Received {
  #allowedOrigins;

  /**
   * @param {object} members
   * @param {JsonObject | null} members.envelope
   * @param {readonly string[]} members.allowedOrigins
   * @param {ContextAction | null} [members.context]
   * @param {Record<string, string>} [members.retryHeaders]
   * @param {string | null} [members.place]
   */
  constructor({ envelope, allowedOrigins, context = null, retryHeaders = {}, place = null }) {
    if (!Array.isArray(allowedOrigins)) {
      throw new InvalidOption('allowedOrigins is a list of origins');
    }
    /** The envelope as it stands; it follows what the service answers. */
    this.content = envelope ?? {};
    /** The context action, or null. */
    this.context = context;
    /** The headers to send when the same operation is retried after an answer. */
    this.retryHeaders = retryHeaders;
    /** Where the envelope was: `header`, `json` or `html`. */
    this.place = place;
    this.#allowedOrigins = new Set(allowedOrigins.map(originOf));
  }

  /** The envelope's state: `feedback_ready` allows a review; `not_requested` stands for no envelope. */
  get state() {
    return String(this.content.state ?? 'not_requested');
  }

  /**
   * The consent question to ask the user word for word, in the state `consent_required`.
   *
   * @returns {string | null}
   */
  get question() {
    const question = this.content.requiredAction?.question;
    return question ? String(question) : null;
  }

  /** The origin that feedback goes to, or null for an envelope without an action. */
  get serviceOrigin() {
    const action = this.#findAction();
    return action ? originOf(String(action.url)) : null;
  }

  /** Whether feedback may be sent to the origin that the envelope names. */
  get isAllowed() {
    const origin = this.serviceOrigin;
    return origin !== null && this.#allowedOrigins.has(origin);
  }

  /**
   * Allow another origin, where its owner has agreed to it.
   *
   * @param {string} origin
   */
  allow(origin) {
    this.#allowedOrigins.add(originOf(origin));
  }

  /**
   * Answer the context action; see `ContextAction.answer`.
   *
   * @param {import('./context_action.js').AnswerItem[]} items
   * @param {{status?: string, signal?: AbortSignal}} [options]
   */
  async answer(items, options) {
    return this.#contextAction().answer(items, options);
  }

  /**
   * Send the user's refusal of context requests; see `ContextAction.decide`.
   *
   * @param {SendOptions} [options]
   */
  async declineContext(options) {
    return this.#contextAction().decide('declined', options);
  }

  /**
   * Send the review and resolve to the service's answer.
   *
   * @param {string} outcome
   * @param {string} note
   * @param {SendOptions} [options]
   */
  async submitOutcome(outcome, note, options) {
    const action = this.#action('submitOutcome');
    return this.#post(action, checkedOutcome(outcome, note, action.bodySchema), null, options);
  }

  /**
   * Resolve to what the service would store of a review; it is checked like one that is sent, and not stored.
   *
   * @param {string} outcome
   * @param {string} note
   * @param {SendOptions} [options]
   */
  async previewOutcome(outcome, note, options) {
    const action = this.#action('submitOutcome');
    return this.#post(action, checkedOutcome(outcome, note, action.bodySchema), 'outcomesPreview', options);
  }

  /**
   * Send a report within the bounds of `content.submit.reportSchema` and resolve to the service's answer.
   *
   * @param {JsonObject} report
   * @param {SendOptions} [options]
   */
  async submitReport(report, options) {
    const action = this.#action('submit');
    return this.#post(action, checkedReport(report, action.reportSchema), null, options);
  }

  /**
   * Resolve to what the service would store of a report; it is checked like one that is sent, and not stored.
   *
   * @param {JsonObject} report
   * @param {SendOptions} [options]
   */
  async previewReport(report, options) {
    const action = this.#action('submit');
    return this.#post(action, checkedReport(report, action.reportSchema), 'reportsPreview', options);
  }

  /**
   * Resolve to the service's own view of the capability, which counts before the consent question is asked.
   *
   * The content follows it: a question that is answered already disappears, and an approval brings its actions.
   * @param {SendOptions} [options]
   */
  async introspect(options) {
    const action = this.#findAction();
    if (action === null) {
      throw new InvalidOption('this envelope has no capability');
    }
    const answer = await this.#post(action, {}, 'introspect', options);
    this.content = followed(this.content, answer);
    return answer;
  }

  /**
   * Send the user's decision, `approved` or `declined`, after an introspection; the content follows the answer.
   *
   * It answers the question of `requiredAction` while the service says that it stands, or, where the user has asked for
   * it, changes the choice of `manageConsent`.
   * @param {string} decision
   * @param {SendOptions} [options]
   */
  async decide(decision, options) {
    const action = submitDecision(this.content);
    if (action === null) {
      throw new InvalidOption(`nothing is to be decided in the state ${this.state}`);
    }
    checkDecision(decision, action.bodySchema);
    const isQuestion = this.question !== null;
    const { state } = await this.introspect(options);
    if (isQuestion && state !== 'consent_required') {
      throw new InvalidOption(`no question stands: the service says ${state}`);
    }
    const answer = await this.#post(action, { decision }, null, options);
    this.content = followed(this.content, answer);
    return answer;
  }

  #contextAction() {
    if (this.context === null) {
      throw new InvalidOption('this response has no context action');
    }
    return this.context;
  }

  /** @param {string} name */
  #action(name) {
    const action = this.content[name];
    if (!isObject(action)) {
      throw new InvalidOption(`nothing may be submitted in the state ${this.state}`);
    }
    return action;
  }

  /** Return any action of the envelope: all have the same credential. */
  #findAction() {
    const actions = [...SENDING_ACTIONS.map((name) => this.content[name]), submitDecision(this.content)];
    return actions.find(isObject) ?? null;
  }

  /**
   * Post to the URL of an action, or to another path of the same service.
   *
   * @param {JsonObject} action
   * @param {JsonObject} body
   * @param {string | null} path its name in the contract
   * @param {SendOptions} [options]
   */
  async #post(action, body, path, options) {
    const { url, authorization } = action;
    if (typeof url !== 'string' || typeof authorization !== 'string') {
      throw new InvalidOption('this envelope does not say how to submit');
    }
    if (!this.#allowedOrigins.has(originOf(url)) || !isSafe(url)) {
      throw new InvalidOption(`${originOf(url)} is not an allowed origin`);
    }
    return post(path === null ? url : serviceUrl(url, path), authorization, body, options);
  }
}

/**
 * Resolve to the envelope and the context action of a response, or to null without either.
 *
 * `response` is one of `fetch`, a page of `fetchPage`, a parsed JSON object, or the bytes or the text of a body; the
 * latter three need the `url` of the response if a context action is to be answered. One of `fetch` is read from a copy.
 * @param {AgentResponse} response
 * @param {{allowedOrigins: readonly string[], url?: string}} options
 * @returns {Promise<Received | null>}
 */
export async function fromResponse(response, { allowedOrigins, url = '' }) {
  const { body, headers, url: ownUrl } = await readResponse(response);
  const { envelope, context, place } = readMembers(body, headers);
  if (envelope === null && context === null) {
    return null;
  }
  const interaction = headers?.get(INTERACTION_HEADER);
  return new Received({
    envelope,
    allowedOrigins,
    context: context && new ContextAction(context, url || ownUrl),
    retryHeaders: interaction ? { [INTERACTION_HEADER]: interaction } : {},
    place,
  });
}
