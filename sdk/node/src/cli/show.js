/** The command `agent-feedback agent show`. */

import { ServiceError } from '../errors.js';
import { DONE, NO_ENVELOPE } from './exit_codes.js';
import { facts } from './facts.js';
import { visit } from './product.js';
import { printable, redacted } from './terminal.js';
import { findReasons } from './why.js';

/**
 * @typedef {import('../agent/index.js').Received} Received
 * @typedef {import('./product.js').Visit} Visit
 * @typedef {import('./terminal.js').Terminal} Terminal
 */

const NAME_WIDTH = 13;

/**
 * @typedef {object} Introspection what the service says of the envelope, or why it was not asked
 * @property {Record<string, any> | null} introspection
 * @property {string | null} problem
 */

/**
 * Print the state, the question and what may be submitted.
 *
 * @param {any} values
 * @param {Terminal} terminal
 */
export async function runShow(values, terminal) {
  const product = await visit(values, terminal);
  const { page, place } = product;
  const answer = await introspect(product.received);
  const reasons = place === null && page !== null && values.why ? findReasons(page) : [];
  if (values.json) {
    terminal.printJson({ ...pageMembers(product), ...receivedMembers(product, answer), why: reasons });
  } else {
    printVisit(terminal, product, answer);
    for (const { rule, sentence } of reasons) {
      printFact(terminal, rule, sentence);
    }
    if (place === null && reasons.length === 0 && page !== null) {
      terminal.printLine('  --why tells which rule left it without one');
    }
  }
  return place === null ? NO_ENVELOPE : DONE;
}

/** @param {Visit} product */
function pageMembers({ page, place }) {
  return { url: page ? page.url : null, status: page ? page.status : null, place };
}

/**
 * @param {Visit} product
 * @param {Introspection} answer
 */
function receivedMembers({ received, place }, { introspection }) {
  if (received === null) {
    return { state: 'not_requested', question: null, envelope: null, introspection: null, context: null };
  }
  return {
    state: received.state,
    question: received.question,
    envelope: place === null ? null : redacted(received.content),
    introspection: redacted(introspection),
    context: redacted(received.context ? received.context.content : null),
  };
}

/**
 * @param {Received | null} received
 * @returns {Promise<Introspection>}
 */
async function introspect(received) {
  const origin = received?.serviceOrigin ?? null;
  if (received === null || origin === null) {
    return { introspection: null, problem: null };
  }
  if (!received.isAllowed) {
    return { introspection: null, problem: `was not asked; --allow-origin ${origin} allows it` };
  }
  try {
    return { introspection: await received.introspect(), problem: null };
  } catch (error) {
    if (error instanceof ServiceError) {
      return { introspection: null, problem: error.message };
    }
    throw error;
  }
}

/**
 * @param {Terminal} terminal
 * @param {Visit} product
 * @param {Introspection} answer
 */
function printVisit(terminal, product, { introspection, problem }) {
  const { page, received, place } = product;
  if (page) {
    const type = printable(page.headers.get('content-type') ?? '');
    terminal.printLine(`${printable(page.url)} answered ${page.status} ${type}`);
  }
  if (received === null || place === null) {
    terminal.printLine('It has no envelope: no feedback is requested.');
  } else {
    for (const [name, value] of facts(place, received, introspection)) {
      printFact(terminal, name, value);
    }
  }
  if (problem) {
    terminal.printLine(`  The service ${printable(problem)}`);
  }
  if (received?.context) {
    const keys = received.context.catalog.map(({ key }) => key).join(', ');
    printFact(terminal, 'context', `${received.context.state} ${keys}`);
  }
}

/**
 * @param {Terminal} terminal
 * @param {string} name
 * @param {unknown} value
 */
function printFact(terminal, name, value) {
  terminal.printLine(`  ${`${name}:`.padEnd(NAME_WIDTH)}${printable(value)}`);
}
