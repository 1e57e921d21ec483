/** The envelope in each of its states, made of the texts and bounds of the protocol files. */

import { wholeTimestamp } from './instants.js';
import { contract, instructions } from './protocol.js';

/** @typedef {import('./protocol.js').JsonObject} JsonObject */

/**
 * The facts that one envelope depends on.
 * @typedef {object} EnvelopeFacts
 * @property {string} endpoint
 * @property {string} capability
 * @property {number} expiresAt seconds since 1970
 * @property {string} mode
 * @property {boolean} hasCustomer whether the response belongs to a customer, so that a decision can be stored
 * @property {string} decision the customer's consent decision as this process has cached it
 * @property {string} serviceName
 * @property {'http' | 'mcp'} [reliability]
 */

/**
 * What an agent receives beside the product's answer.
 * @typedef {JsonObject & {v: number, mode: string, state: string}} Envelope
 */

const MAX_TEMPLATES = 32;
// Within a text every quotation mark is escaped, so no text of the envelope contains one of these.
const AUTHORIZATION = '"Bearer "';
const EXPIRES_AT = `"${wholeTimestamp(0)}"`;

/**
 * What is before the instant of expiry, and the parts between the authorizations, which are all behind it.
 * @type {Map<string, string[]>}
 */
const templates = new Map();

/**
 * Return the envelope, or null in the mode `off`, which has none.
 * @param {EnvelopeFacts} facts
 * @returns {Envelope | null}
 */
export function buildEnvelope(facts) {
  const state = findState(facts);
  if (!state) {
    return null;
  }
  /** @type {[string, unknown][]} */
  const actions = state.actions.map((/** @type {string} */ name) => [name, ACTIONS[name](facts, state)]);
  return {
    v: contract.version,
    ...state.members,
    reliability: contract.reliability[facts.reliability ?? 'http'],
    instruction: instructions[state.members.state],
    privacy: instructions.privacy,
    expiresAt: wholeTimestamp(facts.expiresAt),
    ...Object.fromEntries(actions),
  };
}

/**
 * Return the envelope as compact JSON in ASCII, or null where there is none.
 *
 * Only the capability and its end differ between the responses of a product, so all the rest is encoded once.
 * @param {EnvelopeFacts} facts
 * @returns {string | null}
 */
export function encodeEnvelope(facts) {
  const { endpoint, mode, hasCustomer, decision, serviceName, reliability } = facts;
  const key = [mode, hasCustomer, decision, reliability, endpoint, serviceName].join('\n');
  const template = templates.get(key) ?? addTemplate(key, facts);
  const [head, ...actions] = template;
  return template.length === 0
    ? null
    : `${head}"${wholeTimestamp(facts.expiresAt)}"${actions.join(`"Bearer ${facts.capability}"`)}`;
}

/**
 * Return JSON in which every character beyond ASCII is escaped: pages in other charsets hold it too.
 * @param {unknown} content
 * @returns {string}
 */
export function encodeAscii(content) {
  return JSON.stringify(content).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * @param {string} key
 * @param {EnvelopeFacts} facts
 * @returns {string[]} nothing where there is no envelope
 */
function addTemplate(key, facts) {
  const envelope = buildEnvelope({ ...facts, capability: '', expiresAt: 0 });
  const [head, tail] = envelope ? encodeAscii(envelope).split(EXPIRES_AT) : [];
  const template = head === undefined ? [] : [head, ...tail.split(AUTHORIZATION)];
  if (templates.size >= MAX_TEMPLATES) {
    templates.clear();
  }
  templates.set(key, template);
  return template;
}

/**
 * Return the row of the contract's table of states that applies.
 * @param {EnvelopeFacts} facts
 * @returns {JsonObject | undefined}
 */
function findState(facts) {
  /** @type {JsonObject[]} */
  const states = Object.values(contract.states);
  return states.find(({ applies }) =>
    Object.keys(applies).every((name) => applies[name] === /** @type {JsonObject} */ (facts)[name]),
  );
}

/** @type {Record<string, (facts: EnvelopeFacts, state: JsonObject) => JsonObject>} */
const ACTIONS = {
  submitOutcome: (facts) => ({ ...action(facts, 'outcomes'), bodySchema: contract.outcomeBody }),
  submit: (facts) => ({ ...action(facts, 'reports'), reportSchema: contract.reportSchema }),
  requiredAction: (facts, state) => ({
    type: 'ask_user',
    question: instructions.questions[state.question].replaceAll('{service}', () => facts.serviceName),
    submitDecision: decisionAction(facts),
  }),
  manageConsent: (facts, state) => ({ current: state.current, ...decisionAction(facts) }),
};

/** @param {EnvelopeFacts} facts */
function decisionAction(facts) {
  return { ...action(facts, 'decisions'), bodySchema: contract.decisionBody };
}

/**
 * @param {EnvelopeFacts} facts
 * @param {string} path
 */
function action(facts, path) {
  return {
    url: facts.endpoint + contract.paths[path],
    method: 'POST',
    authorization: `Bearer ${facts.capability}`,
    contentType: contract.contentType,
  };
}
