/** Which bodies the relay forwards, and its errors. */

import { contract } from './protocol.js';

const { bodies: BODIES, errors: ERRORS } = contract.relay;

/** @type {Record<string, string>} */
const SENTENCES = {
  notFound: 'There is nothing at this address.',
  badHandle: "A handle of this product's response is needed.",
  largeBody: `The body is larger than ${contract.relay.maxBodyBytes} bytes.`,
  redirect: 'The service answered with a redirect.',
  unavailable: 'The service cannot be reached; please try again.',
};

/** An error that the relay itself answers with. */
export class RelayError extends Error {
  /**
   * @param {string} kind its name in the contract
   * @param {string} [sentence]
   */
  constructor(kind, sentence = SENTENCES[kind] ?? kind) {
    super(sentence);
    const { status, code, retryable, retryAfterS } = ERRORS[kind];
    this.status = status;
    this.content = { error: sentence, code, ...(retryable ? { retryable } : {}) };
    /** @type {[string, string][]} */
    this.headers = retryAfterS ? [['Retry-After', String(retryAfterS)]] : [];
  }
}

/**
 * Return the body for a relay path as JSON if it may be forwarded, or throw `RelayError`.
 * @param {string} path
 * @param {Uint8Array} bytes
 * @returns {string}
 */
export function readRelayBody(path, bytes) {
  const { members, items } = BODIES[path];
  const body = parse(bytes);
  if (!isObject(body)) {
    throw badBody('The body is not an object.');
  }
  for (const [name, value] of Object.entries(body)) {
    if (name === 'items' && items !== null) {
      checkItems(value, items);
    } else if (!members.includes(name)) {
      throw badBody(`The body may have ${[...members, ...(items ? ['items'] : [])].join(', ')} and nothing else.`);
    } else {
      checkScalar(value, 'the body');
    }
  }
  return JSON.stringify(body);
}

/** @param {Uint8Array} bytes */
function parse(bytes) {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    throw badBody('The body is not JSON.');
  }
}

/**
 * @param {unknown} items
 * @param {string[]} names
 */
function checkItems(items, names) {
  if (!Array.isArray(items) || !items.every(isObject)) {
    throw badBody('items is a list of objects.');
  }
  for (const [name, value] of items.flatMap((item) => Object.entries(item))) {
    if (!names.includes(name)) {
      throw badBody(`Each item may have ${names.join(', ')} and nothing else.`);
    }
    checkScalar(value, 'an item');
  }
}

/**
 * @param {unknown} value
 * @param {string} place
 */
function checkScalar(value, place) {
  if (typeof value === 'object' && value !== null) {
    throw badBody(`Each value of ${place} is a text, a number or a boolean.`);
  }
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw badBody('A number of the body is out of range.');
  }
}

/** @param {string} sentence */
export function badBody(sentence) {
  return new RelayError('badBody', sentence);
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
