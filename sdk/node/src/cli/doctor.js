/** The command `agent-feedback doctor`: a product seen from outside, as an agent sees it. */

import { originOf, post } from '../agent/requests.js';
import { InvalidOption, ServiceRefused, ServiceUnavailable } from '../errors.js';
import { ProductKey } from '../keys.js';
import { environment } from '../options.js';
import { contract } from '../protocol.js';
import { findCapability, findEndpoint, findProblems, readClaims } from './envelope_check.js';
import { DONE, REFUSED } from './exit_codes.js';
import { PRODUCT_OPTIONS, PRODUCT_POSITIONALS, visit } from './product.js';
import { printable, reasonOf } from './terminal.js';
import { WAIT_MS, waitForInteraction } from './telemetry_check.js';
import { findReasons } from './why.js';

/**
 * @typedef {import('../agent/index.js').Received} Received
 * @typedef {import('./product.js').Visit} Visit
 */

const PASS = 'PASS';
const NEXT = 'NEXT';
const FAIL = 'FAIL';
const READ_KEY_VARIABLE = 'AGENT_FEEDBACK_READ_KEY';
const CHECK_WIDTH = 12;

/** A subject that no customer has, since it is no HMAC that anybody has made. */
const NOBODY = `${contract.subject.prefix}${'A'.repeat(43)}`;

/**
 * @typedef {object} Finding
 * @property {string} status PASS, NEXT or FAIL
 * @property {string} check what was looked at
 * @property {string} message what was seen
 */

/** @type {import('./arguments.js').Command} */
export const DOCTOR = {
  name: 'agent-feedback doctor',
  summary: 'check a product from outside, as an agent sees it',
  description: 'Fetches a URL of a product as an agent would, and tells what works and what does not.',
  epilog: `each line is
  PASS  as it should be
  NEXT  what to do, or to configure, for more
  FAIL  what keeps feedback from arriving

exit codes:
  0    nothing fails
  1    something fails
  2    wrong usage
  130  ended by Ctrl-C

It asks the service for the state of the response's capability, and never files a review or a decision. With the
product key (AGENT_FEEDBACK_KEY) it checks that the product uses that key, with a read key (${READ_KEY_VARIABLE})
that the telemetry of this response arrives.`,
  positionals: PRODUCT_POSITIONALS,
  options: PRODUCT_OPTIONS,
  run: runDoctor,
};

/**
 * Print a line for each check, and resolve to whether one fails.
 *
 * @param {any} values
 * @param {import('./terminal.js').Terminal} terminal
 */
async function runDoctor(values, terminal) {
  /** @type {Finding[]} */
  const findings = [];
  for await (const finding of examine(values, terminal)) {
    findings.push(finding);
    if (!values.json) {
      const check = `${finding.check}:`.padEnd(CHECK_WIDTH);
      terminal.printLine(`${finding.status}  ${check}${printable(finding.message)}`);
    }
  }
  if (values.json) {
    terminal.printJson(findings);
  }
  return findings.some(({ status }) => status === FAIL) ? REFUSED : DONE;
}

/**
 * Return what is seen of a product, as far as one check makes the next possible.
 *
 * @param {any} values
 * @param {import('./terminal.js').Terminal} terminal
 * @returns {AsyncGenerator<Finding>}
 */
async function* examine(values, terminal) {
  let product;
  try {
    product = await visit(values, terminal);
  } catch (error) {
    if (!(error instanceof ServiceUnavailable)) {
      throw error;
    }
    yield { status: FAIL, check: 'product', message: `${error.message}${reasonOf(error)}` };
    return;
  }
  const { page, received, place } = product;
  if (page) {
    yield { status: PASS, check: 'product', message: `${page.url} answered ${page.status}` };
  }
  if (received === null || place === null) {
    yield* missingEnvelope(product);
    return;
  }
  yield* envelope(product, received);
  yield* service(received);
}

/**
 * @param {Visit} product
 * @returns {Generator<Finding>}
 */
function* missingEnvelope({ page }) {
  yield { status: FAIL, check: 'envelope', message: 'the response has none' };
  for (const { rule, sentence } of page ? findReasons(page) : []) {
    yield { status: NEXT, check: rule, message: sentence };
  }
}

/**
 * @param {Visit} product
 * @param {Received} received
 * @returns {Generator<Finding>}
 */
function* envelope({ page, place }, { content, state }) {
  yield { status: PASS, check: 'envelope', message: `found (${place}), in the state ${state}` };
  const problems = findProblems(content);
  yield problems.length
    ? { status: FAIL, check: 'protocol', message: problems.join('; ') }
    : { status: PASS, check: 'protocol', message: 'the envelope is as the protocol has it' };
  if (page && place !== 'request') {
    const policy = page.headers.get('cache-control') ?? '';
    const directives = policy.split(',').map((part) => part.trim().toLowerCase());
    const message = `Cache-Control is ${policy || 'missing'}`;
    yield ['private', 'no-store'].every((directive) => directives.includes(directive))
      ? { status: PASS, check: 'cache', message }
      : { status: FAIL, check: 'cache', message: `${message}; something behind the adapter changes private, no-store` };
  }
}

/**
 * @param {Received} received
 * @returns {AsyncGenerator<Finding>}
 */
async function* service(received) {
  const { content, isAllowed, serviceOrigin } = received;
  if (!isAllowed) {
    const origin = serviceOrigin ?? 'a service';
    yield { status: NEXT, check: 'service', message: `${origin} was not asked; --allow-origin ${origin} allows it` };
    return;
  }
  let introspection;
  try {
    introspection = await received.introspect();
  } catch (error) {
    yield introspectionFailure(error);
    return;
  }
  const { productName, configuredMode } = introspection;
  yield { status: PASS, check: 'capability', message: `the service accepts it, for the product ${productName}` };
  yield drift(content.configuredMode ?? content.mode, configuredMode);
  const [endpoint, capability] = [findEndpoint(content), findCapability(content)];
  // The actions may name others, which have not been allowed.
  if (endpoint === null || originOf(endpoint) !== serviceOrigin) {
    const message = 'the envelope names no API of the service that is allowed; no key was sent';
    yield { status: FAIL, check: 'service', message };
    return;
  }
  yield* productKey(endpoint, capability);
  yield* telemetry(endpoint, capability);
}

/**
 * @param {unknown} error
 * @returns {Finding}
 */
function introspectionFailure(error) {
  if (error instanceof ServiceUnavailable) {
    return { status: FAIL, check: 'service', message: `${error.message}${reasonOf(error)}` };
  }
  if (error instanceof ServiceRefused || error instanceof InvalidOption) {
    return { status: FAIL, check: 'capability', message: `the service does not accept it: ${error.message}` };
  }
  throw error;
}

/**
 * @param {unknown} sdkMode
 * @param {unknown} serviceMode
 * @returns {Finding}
 */
function drift(sdkMode, serviceMode) {
  if (sdkMode === serviceMode) {
    return { status: PASS, check: 'mode', message: `${sdkMode}, in the SDK and in the service` };
  }
  const modes = `the SDK has ${sdkMode}, the service ${serviceMode}`;
  return { status: FAIL, check: 'mode', message: `${modes}; set AGENT_FEEDBACK_MODE or the environment` };
}

/**
 * @param {string} endpoint
 * @param {string} capability
 * @returns {AsyncGenerator<Finding>}
 */
async function* productKey(endpoint, capability) {
  const check = 'key';
  const key = readKey();
  if (key === null) {
    const message = 'AGENT_FEEDBACK_KEY is not set here, so whether the product uses it is not known';
    yield { status: NEXT, check, message };
    return;
  }
  yield capability.startsWith(`${contract.capability.prefix}${key.id}.`)
    ? { status: PASS, check, message: 'the product signs with AGENT_FEEDBACK_KEY' }
    : { status: FAIL, check, message: 'the product signs with another key than AGENT_FEEDBACK_KEY' };
  try {
    await post(endpoint + contract.paths.consentState, `Bearer ${key.reveal()}`, { subjects: [NOBODY] });
    yield { status: PASS, check, message: 'the service accepts AGENT_FEEDBACK_KEY, as it needs to for telemetry' };
  } catch (error) {
    const message = `the service does not accept AGENT_FEEDBACK_KEY: ${messageOf(error)}`;
    yield { status: FAIL, check, message };
  }
}

/** Return the product key of the environment, or null. */
function readKey() {
  const text = environment('AGENT_FEEDBACK_KEY');
  try {
    return text === undefined ? null : new ProductKey(text);
  } catch (error) {
    throw new InvalidOption(`AGENT_FEEDBACK_KEY: ${/** @type {Error} */ (error).message}`);
  }
}

/**
 * @param {string} endpoint
 * @param {string} capability
 * @returns {AsyncGenerator<Finding>}
 */
async function* telemetry(endpoint, capability) {
  const check = 'telemetry';
  const key = environment(READ_KEY_VARIABLE);
  const claims = readClaims(capability);
  if (claims === null) {
    return;
  }
  if (key === undefined) {
    yield { status: NEXT, check, message: `whether it arrives is shown with a read key in ${READ_KEY_VARIABLE}` };
    return;
  }
  try {
    const interaction = await waitForInteraction(endpoint, claims.i, `Bearer ${key}`);
    const wait = `within ${WAIT_MS / 1000} seconds`;
    yield interaction === null
      ? { status: FAIL, check, message: `none of this response arrived ${wait}; see the product's log` }
      : { status: PASS, check, message: `that of this response has arrived: ${seen(interaction)}` };
  } catch (error) {
    yield { status: FAIL, check, message: `the service does not show it: ${messageOf(error)}` };
  }
}

/** @param {Record<string, any>} interaction */
function seen({ operation, surface, statusCode }) {
  return [operation, surface, statusCode].map(String).join(', ');
}

/** @param {unknown} error of the service, or in what was to be sent to it */
function messageOf(error) {
  if (error instanceof ServiceRefused || error instanceof ServiceUnavailable || error instanceof InvalidOption) {
    return error.message;
  }
  throw error;
}
