/** A product's response on the command line: fetched, or read from standard input. */

import { discover, fetchPage, fromResponse } from '../agent/index.js';
import { MAX_PAGE_BYTES, checkHeaders, originOf } from '../agent/requests.js';
import { readMembers } from '../agent/response.js';
import { InvalidOption } from '../errors.js';
import { readBounded } from '../http/bytes.js';
import { environment } from '../options.js';

export const ORIGINS_VARIABLE = 'AGENT_FEEDBACK_ALLOWED_ORIGINS';
export const STANDARD_INPUT = '-';

/** @typedef {import('./terminal.js').Terminal} Terminal */

/** @type {import('./arguments.js').Option} */
export const ORIGIN_OPTION = {
  names: ['--allow-origin'],
  member: 'allowOrigin',
  values: ['ORIGIN'],
  isRepeatable: true,
  help: `a feedback service that may get something; also in ${ORIGINS_VARIABLE}, and AGENT_FEEDBACK_URL`,
};

/** @type {import('./arguments.js').Option[]} */
export const PRODUCT_OPTIONS = [
  {
    names: ['-H', '--header'],
    member: 'header',
    values: ["'NAME: VALUE'"],
    isRepeatable: true,
    help: 'a header of the request, such as your login',
  },
  ORIGIN_OPTION,
  { names: ['--json'], member: 'json', help: 'print JSON, for scripts' },
];

export const PRODUCT_POSITIONALS = [
  { name: 'URL', help: 'a URL of the product; - reads a response from standard input' },
];

/**
 * @typedef {object} Visit one look at a product
 * @property {import('../agent/index.js').Page | null} page null for a response from standard input
 * @property {import('../agent/index.js').Received | null} received
 * @property {string | null} place where the envelope was: `header`, `json` or `html`, or `request` where it had to be
 *   asked for
 */

/**
 * Fetch the response, and what it offers to agents that ask for it.
 *
 * @param {{url: string, header: string[], allowOrigin: string[]}} values
 * @param {Terminal} terminal
 * @returns {Promise<Visit>}
 */
export async function visit({ url, header, allowOrigin }, terminal) {
  const allowedOrigins = readOrigins(allowOrigin);
  if (url === STANDARD_INPUT) {
    const received = await fromResponse(await readInput(terminal, MAX_PAGE_BYTES), { allowedOrigins });
    return { page: null, received, place: received?.place ?? null };
  }
  const page = await fetchPage(url, { headers: readHeaders(header) });
  const received = await discover(page, { allowedOrigins });
  const isInPage = readMembers(page.text, page.headers).envelope !== null;
  const place = received?.place ?? null;
  return { page, received, place: place && !isInPage ? 'request' : place };
}

/**
 * Return the origins of services that may get something, of the arguments and the environment.
 *
 * @param {string[]} words
 */
export function readOrigins(words) {
  const variables = `${environment(ORIGINS_VARIABLE) ?? ''} ${environment('AGENT_FEEDBACK_URL') ?? ''}`;
  const origins = [...words, ...variables.split(/[\s,]+/).filter(Boolean)];
  for (const origin of origins) {
    if (!/^https?:\/\//.test(originOf(origin))) {
      throw new InvalidOption(`${origin} is no origin; https://feedback.example.com is one`);
    }
  }
  return origins;
}

/**
 * Make sure that the service of an envelope may get something, or throw `InvalidOption`.
 *
 * @param {import('../agent/index.js').Received} received
 * @param {Terminal} terminal
 */
export async function permit(received, terminal) {
  const origin = received.serviceOrigin;
  if (origin === null || received.isAllowed) {
    return;
  }
  const question = `The product names ${origin} as its feedback service. Send to it?`;
  if (!terminal.isInteractive || !(await terminal.confirm(question))) {
    throw new InvalidOption(`${origin} may get nothing so far; --allow-origin ${origin} allows it`);
  }
  received.allow(origin);
}

/**
 * Resolve to the text of standard input.
 *
 * @param {Terminal} terminal
 * @param {number} limit
 */
export async function readInput(terminal, limit) {
  const bytes = await readBounded(/** @type {any} */ (terminal.input), limit);
  if (bytes === null) {
    throw new InvalidOption(`standard input has more than ${limit} bytes`);
  }
  return new TextDecoder().decode(bytes);
}

/** @param {string[]} texts */
function readHeaders(texts) {
  /** @type {Record<string, string>} */
  const headers = {};
  for (const text of texts) {
    const [, name, value] = /^([^:]*):(.*)$/s.exec(text) ?? [];
    if (name === undefined || value === undefined) {
      throw new InvalidOption("--header: 'NAME: VALUE' is needed");
    }
    headers[name.trim()] = value.trim();
  }
  return checkHeaders(headers);
}
