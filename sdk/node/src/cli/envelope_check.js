/** Check an envelope against the one that the protocol has for its state. */

import { isDeepStrictEqual } from 'node:util';

import { decodeBase64url } from '../base64url.js';
import { buildEnvelope } from '../envelope.js';
import { contract, instructions } from '../protocol.js';

/** @typedef {Record<string, any>} JsonObject */

const ACTIONS = ['submitOutcome', 'submit', 'manageConsent'];
const QUESTION = new RegExp(`^(?:${Object.values(instructions.questions).map(pattern).join('|')})$`);

/**
 * Return how an envelope differs from the protocol's; empty for one that is as it should be.
 *
 * @param {JsonObject} content
 * @returns {string[]}
 */
export function findProblems(content) {
  const state = findState(content);
  if (state === undefined) {
    return ["its state and mode are in no row of the protocol's table of states"];
  }
  const endpoint = findEndpoint(content);
  const capability = findCapability(content);
  const claims = readClaims(capability);
  if (endpoint === null || claims === null) {
    return ['it has no action with an address and a capability'];
  }
  const { mode, hasCustomer = false, decision = 'unknown' } = state.applies;
  const serviceName = contract.options.serviceName.default;
  const facts = { endpoint, capability, expiresAt: claims.exp, mode, hasCustomer, decision, serviceName };
  return [...differences(content, buildEnvelope(facts) ?? {})];
}

/**
 * Return the capability of an envelope, or an empty text.
 *
 * @param {JsonObject} content
 * @returns {string}
 */
export function findCapability(content) {
  const action = actionsOf(content).find(({ authorization }) => typeof authorization === 'string');
  return action ? action.authorization.replace(/^Bearer /, '') : '';
}

/**
 * Return the address of the service that an envelope names, or null.
 *
 * @param {JsonObject} content
 * @returns {string | null}
 */
export function findEndpoint(content) {
  for (const { url } of actionsOf(content)) {
    const path = Object.values(contract.paths).find((known) => typeof url === 'string' && url.endsWith(known));
    if (path !== undefined) {
      return url.slice(0, -path.length);
    }
  }
  return null;
}

/**
 * Return the claims of a capability, unverified, or null for a text that is none.
 *
 * @param {string} capability
 * @returns {JsonObject | null}
 */
export function readClaims(capability) {
  const [head = '', payload = '', ...rest] = capability.split('.');
  const bytes = rest.length === 1 && head.startsWith(contract.capability.prefix) ? decodeBase64url(payload) : null;
  try {
    const claims = bytes && JSON.parse(new TextDecoder().decode(bytes));
    return Number.isInteger(claims?.exp) && typeof claims.i === 'string' ? claims : null;
  } catch {
    return null;
  }
}

/**
 * Return the row of the table of states whose members the envelope has, of several the one with most members.
 *
 * @param {JsonObject} content
 * @returns {JsonObject | undefined}
 */
function findState(content) {
  /** @type {JsonObject[]} */
  const rows = Object.values(contract.states);
  const size = (/** @type {JsonObject} */ row) => Object.keys(row.members).length;
  return rows
    .filter(({ members }) => Object.entries(members).every(([name, value]) => content[name] === value))
    .sort((first, second) => size(second) - size(first))[0];
}

/** @param {JsonObject} content */
function actionsOf(content) {
  /** @type {any[]} */
  const actions = [...ACTIONS.map((name) => content[name]), content.requiredAction?.submitDecision];
  return actions.filter((action) => typeof action === 'object' && action !== null);
}

/**
 * @param {JsonObject} content
 * @param {JsonObject} expected
 * @returns {Generator<string>}
 */
function* differences(content, expected) {
  for (const name of Object.keys(expected).filter((member) => !Object.hasOwn(content, member))) {
    yield `${name} is missing`;
  }
  for (const name of Object.keys(content)) {
    if (!Object.hasOwn(expected, name)) {
      yield `${name} is not of the protocol`;
    } else if (!isRight(name, content[name], expected[name])) {
      yield `${name} is not as the protocol has it`;
    }
  }
}

/**
 * @param {string} name
 * @param {any} value
 * @param {any} expected
 */
function isRight(name, value, expected) {
  if (name === 'reliability') {
    return Object.values(contract.reliability).includes(value);
  }
  if (name === 'requiredAction') {
    // The name of the service in the question may be any.
    const isQuestion = typeof value?.question === 'string' && QUESTION.test(value.question);
    return isQuestion && isDeepStrictEqual({ ...value, question: expected.question }, expected);
  }
  return isDeepStrictEqual(value, expected);
}

/** @param {string} text */
function pattern(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace('\\{service\\}', '.+');
}
