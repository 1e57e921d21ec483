/** Requests of an agent: to its allowed origins only, bounded in time and size, without redirects. */

import { InvalidOption, ServiceRefused, ServiceUnavailable } from '../errors.js';
import { backoffMs } from '../http/backoff.js';
import { HttpClient } from '../http/client.js';
import { contract } from '../protocol.js';

const { tries: TRIES, retryDelayMs: RETRY_DELAY_MS, timeoutMs: TIMEOUT_MS } = contract.agent;
const MAX_TEXT_LENGTH = 200;

/** A longer response of a product is not read. */
export const MAX_PAGE_BYTES = 16 * 1024 * 1024;

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[ -~]*$/;

/**
 * @typedef {object} Page a response of a product, with the members that `fromResponse` and `discover` read
 * @property {string} url
 * @property {number} status
 * @property {Headers} headers
 * @property {string} text
 * @property {string} method of the request
 * @property {Record<string, string>} requestHeaders credentials included
 */

/**
 * Return a URL in its parts, or throw `InvalidOption`.
 * @param {string} url
 * @param {string} [base]
 * @returns {URL}
 */
export function parseUrl(url, base) {
  if (!URL.canParse(url, base)) {
    throw new InvalidOption('the URL is malformed');
  }
  return new URL(url, base);
}

/**
 * Return the origin of a URL, or throw `InvalidOption`.
 * @param {string} url
 */
export function originOf(url) {
  return parseUrl(url).origin;
}

/**
 * Tell whether a URL is https, or http on this machine, and without credentials.
 * @param {string} url
 */
export function isSafe(url) {
  const { protocol, hostname, username, password } = parseUrl(url);
  const isLoopback = contract.loopbackHosts.includes(hostname.replace(/^\[|\]$/g, ''));
  return !username && !password && (protocol === 'https:' || (protocol === 'http:' && isLoopback));
}

/**
 * Return the URL of another path of the contract, given the URL of an action.
 * @param {string} url
 * @param {string} path its name in the contract
 */
export function serviceUrl(url, path) {
  const known = Object.values(contract.paths).find((candidate) => url.endsWith(candidate));
  return (known ? url.slice(0, -known.length) : originOf(url)) + contract.paths[path];
}

/**
 * Post and resolve to the JSON object of a 200; reject with `ServiceRefused` or `ServiceUnavailable`.
 *
 * A 5xx or a network error is tried once more.
 * @param {string} url
 * @param {string} authorization
 * @param {unknown} body
 * @param {{timeoutMs?: number, signal?: AbortSignal}} [options]
 * @returns {Promise<Record<string, any>>}
 */
export async function post(url, authorization, body, options) {
  return exchange(url, authorization, { method: 'POST', body: JSON.stringify(body), ...options });
}

/**
 * Get, as `post` posts.
 * @param {string} url
 * @param {string} authorization
 * @param {{timeoutMs?: number, signal?: AbortSignal}} [options]
 * @returns {Promise<Record<string, any>>}
 */
export async function get(url, authorization, options) {
  return exchange(url, authorization, { method: 'GET', ...options });
}

/**
 * @param {string} url
 * @param {string} authorization
 * @param {{method: string, body?: string, timeoutMs?: number, signal?: AbortSignal}} request
 * @returns {Promise<Record<string, any>>}
 */
async function exchange(url, authorization, request) {
  const { origin, pathname, search } = parseUrl(url);
  const headers = checkHeaders({ Authorization: authorization });
  const response = await tryTwice(origin, { path: pathname + search, headers, timeoutMs: TIMEOUT_MS, ...request });
  const content = response.json() ?? response.text.slice(0, MAX_TEXT_LENGTH);
  if (response.status !== 200) {
    throw new ServiceRefused(response.status, content);
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new ServiceUnavailable(`${origin} answered without a JSON object`);
  }
  return content;
}

/**
 * @param {string} origin
 * @param {import('../http/client.js').HttpRequest} request
 */
async function tryTwice(origin, request) {
  const client = new HttpClient(origin);
  for (let tries = 1; ; tries += 1) {
    const result = await client.request(request).catch((error) => error);
    if (result instanceof Error && !(result instanceof ServiceUnavailable)) {
      throw result;
    }
    if (!(result instanceof Error) && result.status < 500) {
      return result;
    }
    if (tries >= TRIES) {
      throw result instanceof Error
        ? unreachable(origin, result)
        : new ServiceUnavailable(`${origin} answered with status ${result.status} twice`);
    }
    const bounds = { firstMs: RETRY_DELAY_MS, maxMs: RETRY_DELAY_MS, jitter: contract.telemetry.jitter };
    await pause(backoffMs(1, bounds), request.signal);
  }
}

/**
 * @param {string} origin
 * @param {Error} error
 */
function unreachable(origin, { cause }) {
  return new ServiceUnavailable(`${origin} could not be reached`, { cause });
}

/**
 * @param {number} milliseconds
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<void>}
 */
function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/**
 * Request a page of a product as an agent does, once and without a body, and resolve to it whatever its status.
 *
 * Reject with `InvalidOption` for a URL or headers that cannot be used, with `ServiceUnavailable` without an answer.
 * @param {string} url
 * @param {{headers?: Record<string, string>, method?: string, signal?: AbortSignal}} [options]
 * @returns {Promise<Page>}
 */
export async function fetchPage(url, { headers = {}, method = 'GET', signal } = {}) {
  const target = parseUrl(url);
  target.hash = '';
  if (!isSafe(target.href)) {
    throw new InvalidOption('an https URL without credentials is needed; http only for the machine itself');
  }
  // What is compressed on its way is passed by products as it stands.
  const defaults = { accept: '*/*', 'accept-encoding': 'identity' };
  const requestHeaders = checkHeaders(headers);
  const client = new HttpClient(target.origin);
  const sent = client.request({
    method,
    path: target.pathname + target.search,
    headers: { ...defaults, ...lowerCased(requestHeaders) },
    timeoutMs: TIMEOUT_MS,
    maxResponseBytes: MAX_PAGE_BYTES,
    ...(signal ? { signal } : {}),
  });
  const response = await sent.catch((error) => {
    throw error instanceof ServiceUnavailable ? unreachable(target.origin, error) : error;
  });
  const { status, text } = response;
  return { url: target.href, status, headers: new Headers(response.headers), text, method, requestHeaders };
}

/**
 * Return headers that may be sent, or throw `InvalidOption`.
 * @param {Record<string, string>} headers
 */
export function checkHeaders(headers) {
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER_NAME.test(name)) {
      throw new InvalidOption('the name of a header has letters, digits and hyphens');
    }
    if (typeof value !== 'string' || !HEADER_VALUE.test(value)) {
      throw new InvalidOption(`the header ${name} needs a text of printable ASCII characters`);
    }
  }
  return headers;
}

/** @param {Record<string, string>} headers */
function lowerCased(headers) {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
