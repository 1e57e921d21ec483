/** The agent's side of customer context: the action in a response, answered at the product's own origin. */

import { InvalidOption } from '../errors.js';
import { contract } from '../protocol.js';
import { isSafe, originOf, parseUrl, post } from './requests.js';

/** @typedef {Record<string, any>} JsonObject */

/** @type {string[]} */
const ITEM_MEMBERS = contract.relay.bodies['/_service/v1/enrichment/answers'].items;
const MEMBERS_OF_STATE = ['state', 'stageInstruction', 'answerInstruction', 'submit'];

/**
 * @typedef {object} AnswerItem
 * @property {string} key
 * @property {string | number | boolean} value
 * @property {string} provenance
 * @property {string} [type] taken from the catalog
 * @property {number} [confidence]
 * @property {boolean} [remember]
 * @property {string} [expiresAt]
 */

/** A product's request for context, answered in the words of its catalog. */
export class ContextAction {
  #responseUrl;
  #post;

  /**
   * @param {JsonObject} content
   * @param {string} responseUrl
   * @param {typeof post} [send] how a body is sent
   */
  constructor(content, responseUrl, send = post) {
    this.#post = send;
    this.content = { ...content };
    this.#responseUrl = responseUrl;
  }

  /** The state of the request; in `answer_ready` an answer may be sent. */
  get state() {
    return String(this.content.state);
  }

  /** The service's instruction for this state. */
  get instruction() {
    return String(this.content.stageInstruction ?? '');
  }

  /**
   * The fields that may be answered, each with its `key` and `allowedValues`.
   *
   * @returns {JsonObject[]}
   */
  get catalog() {
    const catalog = this.content.submit?.bodySchema?.catalog;
    return Array.isArray(catalog) ? catalog.filter((entry) => typeof entry === 'object' && entry !== null) : [];
  }

  /**
   * Send an answer and resolve to the service's; the type of an item is taken from the catalog.
   *
   * Reject with `InvalidOption` for an answer that the action does not allow, `ServiceRefused` or `ServiceUnavailable`.
   * @param {AnswerItem[]} items
   * @param {{status?: string, signal?: AbortSignal}} [options]
   */
  async answer(items, { status = 'answered', signal } = {}) {
    const action = this.content.submit;
    if (typeof action !== 'object' || action === null) {
      throw new InvalidOption(`nothing may be answered in the state ${this.state}`);
    }
    const typedItems = publishedBounds(() => {
      const typed = items.map((item) => withType(item, this.catalog));
      check(status, typed, action.bodySchema);
      return typed;
    });
    return this.#send(action, { status, items: typedItems }, signal);
  }

  /**
   * Send the user's decision on such requests, `approved` or `declined`, and resolve to the service's answer.
   *
   * The service stores a refusal for every later request about the same customer.
   * @param {string} decision
   * @param {{remember?: boolean, signal?: AbortSignal}} [options]
   */
  async decide(decision, { remember, signal } = {}) {
    const action = this.content.consent;
    if (typeof action !== 'object' || action === null) {
      throw new InvalidOption(`nothing is to be decided in the state ${this.state}`);
    }
    publishedBounds(() => checkChoice('decision', decision, action.bodySchema.decision));
    const body = remember === undefined ? { decision } : { decision, remember };
    const answer = await this.#send(action, body, signal);
    for (const name of MEMBERS_OF_STATE.filter((member) => Object.hasOwn(answer, member))) {
      this.content[name] = answer[name];
    }
    return answer;
  }

  /**
   * @param {JsonObject} action
   * @param {JsonObject} body
   * @param {AbortSignal | undefined} signal
   */
  async #send(action, body, signal) {
    const { href } = parseUrl(String(action.url), this.#responseUrl || undefined);
    // Answers go to the origin of the response: a product never sends its agents elsewhere.
    if (!this.#responseUrl || originOf(href) !== originOf(this.#responseUrl) || !isSafe(href)) {
      throw new InvalidOption(`${originOf(href)} is not the product's own origin`);
    }
    return this.#post(href, String(action.authorization), body, signal ? { signal } : {});
  }
}

/**
 * Return what a function makes of the bounds of an action, or throw `InvalidOption`, also where they are missing.
 *
 * @template T
 * @param {() => T} read
 * @returns {T}
 */
function publishedBounds(read) {
  try {
    return read();
  } catch (error) {
    throw error instanceof InvalidOption ? error : new InvalidOption('this action does not publish its bounds');
  }
}

/**
 * @param {AnswerItem} item
 * @param {JsonObject[]} catalog
 */
function withType(item, catalog) {
  const entry = catalog.find((candidate) => candidate.key === item.key);
  if (!entry) {
    throw new InvalidOption(`key must be one of ${catalog.map((candidate) => candidate.key).join(', ')}`);
  }
  checkChoice(`the value of ${entry.key}`, item.value, entry.allowedValues);
  if ((item.type ?? entry.type) !== entry.type) {
    throw new InvalidOption(`the type of ${entry.key} is ${entry.type}`);
  }
  return { ...item, type: entry.type };
}

/**
 * Throw `InvalidOption` for an answer that the action's schema does not allow.
 *
 * @param {string} status
 * @param {JsonObject[]} items
 * @param {JsonObject} schema
 */
function check(status, items, schema) {
  const bounds = schema.items;
  checkChoice('status', status, schema.status);
  if (items.length > 0 !== (status === 'answered')) {
    throw new InvalidOption('items are needed for the status answered, and for no other');
  }
  if (items.length > bounds.maximum) {
    throw new InvalidOption(`at most ${bounds.maximum} items can be sent`);
  }
  for (const item of items) {
    checkItem(item, bounds);
  }
}

/**
 * @param {JsonObject} item
 * @param {JsonObject} bounds
 */
function checkItem(item, bounds) {
  /** @type {string[]} */
  const required = bounds.required;
  const isComplete = required.every((name) => Object.hasOwn(item, name));
  if (!isComplete || !Object.keys(item).every((name) => ITEM_MEMBERS.includes(name))) {
    throw new InvalidOption(`an item has ${required.join(', ')}, and may have ${ITEM_MEMBERS.join(', ')}`);
  }
  checkChoice('provenance', item.provenance, bounds.provenance);
  const { confidence = 0 } = item;
  if (typeof confidence !== 'number' || !(confidence >= 0 && confidence <= 1)) {
    throw new InvalidOption('confidence is a number from 0 to 1');
  }
}

/**
 * @param {string} name
 * @param {unknown} value
 * @param {unknown[]} choices
 */
function checkChoice(name, value, choices) {
  if (!Array.isArray(choices)) {
    throw new TypeError('a list of choices is needed');
  }
  if (!choices.includes(value)) {
    throw new InvalidOption(`${name} must be one of ${choices.join(', ')}`);
  }
}
