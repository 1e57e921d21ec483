/** Which rule passed a response over, as far as that can be seen from outside. */

import { PathRules } from '../paths.js';
import { contract } from '../protocol.js';

/** @typedef {import('../agent/index.js').Page} Page */

/**
 * @typedef {object} Reason a rule that a response breaks
 * @property {string} rule the name of its subject
 * @property {string} sentence
 */

const { eligibility: ELIGIBILITY, cache: CACHE } = contract;
const MAX_BODY_BYTES = contract.options.maxBodyBytes.default;

const NOTHING_SEEN =
  'nothing of this response keeps an envelope out: either the product has no SDK, or its mode is off, the path is ' +
  'not included, or AGENT_FEEDBACK_ENABLED is false';

/**
 * Return what keeps an envelope out of a response, in the order in which it is looked at.
 *
 * @param {Page} page
 * @returns {Reason[]}
 */
export function findReasons(page) {
  const reasons = RULES.flatMap(([rule, findSentence]) => {
    const sentence = findSentence(page);
    return sentence === null ? [] : [{ rule, sentence }];
  });
  return reasons.length ? reasons : [{ rule: 'mode', sentence: NOTHING_SEEN }];
}

/** @param {Page} page */
function pathSentence({ url }) {
  const { pathname } = new URL(url);
  const path = decoded(pathname);
  return new PathRules(['/**'], []).covers(path) ? null : `the path ${path} never carries an envelope`;
}

/** @param {string} path */
function decoded(path) {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** @param {Page} page */
function statusSentence({ status, headers }) {
  const { minStatus, maxStatus, excludedStatuses } = ELIGIBILITY;
  if (status >= minStatus && status <= maxStatus && !excludedStatuses.includes(status)) {
    return null;
  }
  const location = headers.get('location');
  const target = location === null ? '' : `, to ${location}`;
  const bounds = `${minStatus} to ${maxStatus} without ${excludedStatuses.join(', ')}`;
  return `the status is ${status}${target}; only ${bounds} carry one`;
}

/** @param {Page} page */
function rangeSentence({ headers }) {
  return headers.has('content-range') ? 'it is a part of a resource (Content-Range)' : null;
}

/** @param {Page} page */
function encodingSentence({ headers }) {
  const encoding = (headers.get('content-encoding') ?? 'identity').trim().toLowerCase();
  return ELIGIBILITY.contentEncodings.includes(encoding)
    ? null
    : `it is compressed (${encoding}); the adapter has to be inside of what compresses`;
}

/** @param {Page} page */
function typeSentence({ headers }) {
  const contentType = headers.get('content-type') ?? '';
  if (contentType === '') {
    return 'it has no Content-Type';
  }
  const [mediaType = '', ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase());
  const charsets = charsetsOf(mediaType);
  if (charsets === null) {
    return `its type is ${contentType}; only JSON and HTML carry one`;
  }
  const [name, value = ''] = parameters.join(';').split(/=(.*)/s);
  const isPlain = parameters.length === 0;
  return isPlain || (name?.trim() === 'charset' && charsets.includes(value.trim().replace(/^"|"$/g, '')))
    ? null
    : `its type is ${contentType}; the only parameter may be a charset of ${charsets.join(', ')}`;
}

/**
 * @param {string} mediaType
 * @returns {string[] | null}
 */
function charsetsOf(mediaType) {
  if (isJson(mediaType)) {
    return ELIGIBILITY.jsonCharsets;
  }
  return ELIGIBILITY.htmlTypes.includes(mediaType) ? ELIGIBILITY.htmlCharsets : null;
}

/** @param {Page} page */
function cacheSentence({ headers }) {
  const directives = (headers.get('cache-control') ?? '').split(',').map((part) => part.trim().toLowerCase());
  const shared = CACHE.sharedHeaders.filter((/** @type {string} */ name) => headers.has(name));
  if (shared.length === 0 && directives.some((directive) => CACHE.privateDirectives.includes(directive))) {
    return null;
  }
  const names = directives.map((directive) => (directive.split('=')[0] ?? '').trim());
  const policies = [
    ...shared,
    ...CACHE.sharedDirectives
      .filter((/** @type {string} */ name) => names.includes(name))
      .map((/** @type {string} */ name) => `Cache-Control: ${name}`),
    ...CACHE.lifetimeHeaders.filter((/** @type {string} */ name) => headers.has(name)),
  ];
  return policies.length === 0
    ? null
    : `shared caches may store it (${policies.join(', ')}), and the cache mode safe leaves it alone; the cache modes ` +
        'private and request do not, nor does a policy with private or no-store';
}

/** @param {Page} page */
function sizeSentence({ text, headers }) {
  const { length } = new TextEncoder().encode(text);
  if (length > MAX_BODY_BYTES) {
    return `its body has ${length} bytes; maxBodyBytes is ${MAX_BODY_BYTES} unless it is raised`;
  }
  return headers.has('content-length') ? null : 'it is a stream without a Content-Length';
}

/** @param {Page} page */
function bodySentence({ text, headers }) {
  const [mediaType = ''] = (headers.get('content-type') ?? '').split(';');
  if (!isJson(mediaType.trim().toLowerCase())) {
    return null;
  }
  let content;
  try {
    content = JSON.parse(text);
  } catch {
    return 'its body is no JSON';
  }
  const hasMember =
    typeof content === 'object' && content !== null && Object.hasOwn(content, contract.members.envelope);
  return hasMember ? 'its JSON has a member _agentFeedback of its own' : null;
}

/** @param {string} mediaType */
function isJson(mediaType) {
  return mediaType === 'application/json' || /^application\/.*\+json$/.test(mediaType);
}

/** @type {[string, (page: Page) => string | null][]} */
const RULES = [
  ['path', pathSentence],
  ['status', statusSentence],
  ['range', rangeSentence],
  ['encoding', encodingSentence],
  ['type', typeSentence],
  ['cache', cacheSentence],
  ['size', sizeSentence],
  ['body', bodySentence],
];
