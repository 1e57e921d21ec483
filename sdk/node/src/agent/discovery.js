/** Follow the `Link` by which a product offers its envelope to agents that ask for it. */

import { contract } from '../protocol.js';
import { fromResponse } from './received.js';
import { fetchPage, isSafe, originOf } from './requests.js';
import { isFetchResponse } from './response.js';

const { request: REQUEST_HEADER, requestValue: REQUEST_VALUE } = contract.headers;
const RELATION = 'agent-feedback';
const METHODS = ['GET', 'HEAD'];

/** What describes a body, the connection or a copy in a cache is not part of the request that is repeated. */
const DROPPED_HEADERS = new Set(
  (
    'accept-encoding connection content-encoding content-length content-type expect host if-match if-modified-since ' +
    'if-none-match if-range if-unmodified-since keep-alive range te trailer transfer-encoding upgrade'
  ).split(' '),
);

const LINK = /<([^<>]*)>((?:[^,<"]|"(?:[^"\\]|\\.)*")*)/g;
const PARAMETER = /;\s*([A-Za-z0-9!#$&+.^_`|~*-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]+))/g;

/**
 * @typedef {object} DiscoverOptions
 * @property {readonly string[]} allowedOrigins
 * @property {string} [method] of the request; a page of `fetchPage` has it itself
 * @property {Record<string, string>} [headers] of the request, credentials included; as above
 * @property {AbortSignal} [signal]
 */

/**
 * Resolve to what a response holds, or else what the product sends when it is asked with `Agent-Feedback-Request`.
 *
 * The request is sent at most once, and only if the response has the link for it: to the same origin, with the same
 * method and headers, without a body; a redirect is not followed. Null without an envelope; `ServiceUnavailable` if the
 * product does not answer.
 * @param {Response | import('./requests.js').Page} response
 * @param {DiscoverOptions} options
 */
export async function discover(response, { allowedOrigins, method, headers, signal }) {
  const received = await fromResponse(response, { allowedOrigins });
  if (received && received.place !== null) {
    return received;
  }
  const page = await requestEnvelope(response, { method, headers, signal });
  return (page && (await fromResponse(page, { allowedOrigins }))) ?? received;
}

/**
 * Send the request that a response's link asks for, and resolve to its answer; to null without such a link.
 *
 * @param {Response | import('./requests.js').Page} response
 * @param {{method?: string | undefined, headers?: Record<string, string> | undefined, signal?: AbortSignal | undefined}} [options]
 */
export async function requestEnvelope(response, options = {}) {
  const request = isFetchResponse(response) ? options : { method: response.method, headers: response.requestHeaders };
  const { method = 'GET', headers = {} } = { ...request, ...definedOf(options) };
  const target = findTarget(response.headers.get('link') ?? '', response.url);
  if (target === null || !METHODS.includes(method.toUpperCase())) {
    return null;
  }
  const kept = Object.entries(headers).filter(([name]) => !DROPPED_HEADERS.has(name.toLowerCase()));
  return fetchPage(target, {
    method: method.toUpperCase(),
    headers: { ...Object.fromEntries(kept), [REQUEST_HEADER]: REQUEST_VALUE },
    ...(options.signal ? { signal: options.signal } : {}),
  });
}

/**
 * Return the URL of a response's link to its envelope, or null without one of the same origin.
 *
 * @param {string} header
 * @param {string} responseUrl
 */
export function findTarget(header, responseUrl) {
  for (const { target, parameters } of readLinks(header)) {
    const relations = (parameters.get('rel') ?? '').toLowerCase().split(/\s+/);
    if (relations.includes(RELATION) && asksForHeader(parameters) && URL.canParse(target, responseUrl)) {
      const { href, origin } = new URL(target, responseUrl);
      if (origin === originOf(responseUrl) && isSafe(href)) {
        return href;
      }
    }
  }
  return null;
}

/**
 * Return the links of a `Link` header (RFC 8288), with their parameters by lower-cased names.
 *
 * @param {string} header
 */
export function* readLinks(header) {
  for (const [, target = '', rest = ''] of header.matchAll(LINK)) {
    /** @type {Map<string, string>} */
    const parameters = new Map();
    for (const [, name = '', quoted, token] of rest.matchAll(PARAMETER)) {
      // The first parameter of a name counts.
      if (!parameters.has(name.toLowerCase())) {
        parameters.set(name.toLowerCase(), quoted === undefined ? (token ?? '') : quoted.replace(/\\(.)/g, '$1'));
      }
    }
    yield { target, parameters };
  }
}

/** @param {Map<string, string>} parameters */
function asksForHeader(parameters) {
  const [name = '', value = ''] = (parameters.get('request-header') ?? '').split(/:(.*)/s);
  return name.trim().toLowerCase() === REQUEST_HEADER.toLowerCase() && value.trim() === REQUEST_VALUE;
}

/**
 * Return the members that are given.
 *
 * @param {{method?: string | undefined, headers?: Record<string, string> | undefined}} options
 */
function definedOf({ method, headers }) {
  return { ...(method === undefined ? {} : { method }), ...(headers === undefined ? {} : { headers }) };
}
