/** Read the members that a product adds to its responses: in a header, in JSON or in HTML. */

import { decodeBase64url } from '../base64url.js';
import { readBounded } from '../http/bytes.js';
import { contract } from '../protocol.js';
import { readScripts } from './html_members.js';
import { MAX_PAGE_BYTES } from './requests.js';
import { isObject } from './states.js';

const { headers: HEADERS, html: HTML, members: MEMBERS } = contract;

/**
 * @typedef {Record<string, any>} JsonObject
 * @typedef {Response | import('./requests.js').Page | Uint8Array | string | JsonObject} AgentResponse
 */

/**
 * @typedef {object} ReadResponse
 * @property {string | JsonObject} body
 * @property {Headers | null} headers
 * @property {string} url
 */

/**
 * @typedef {object} Members what a response holds for an agent
 * @property {JsonObject | null} envelope
 * @property {string | null} place where the envelope is: `header`, `json` or `html`
 * @property {JsonObject | null} context
 */

/**
 * Resolve to the body, the headers and the URL of a response; one of `fetch` is read from a copy.
 *
 * @param {AgentResponse} response
 * @returns {Promise<ReadResponse>}
 */
export async function readResponse(response) {
  if (typeof response === 'string') {
    return { body: response, headers: null, url: '' };
  }
  if (response instanceof Uint8Array) {
    return { body: new TextDecoder().decode(response), headers: null, url: '' };
  }
  if (isFetchResponse(response)) {
    if (response.bodyUsed) {
      throw new TypeError('the body was read already: pass the response before, or its text with its url');
    }
    const bytes = await readBounded(response.clone().body, MAX_PAGE_BYTES);
    return { body: new TextDecoder().decode(bytes ?? undefined), headers: response.headers, url: response.url };
  }
  if (response.headers instanceof Headers) {
    return { body: String(response.text), headers: response.headers, url: String(response.url) };
  }
  return { body: response, headers: null, url: '' };
}

/**
 * Tell whether a response is one of `fetch`; there may be several of its classes in a process.
 *
 * @param {AgentResponse} response
 * @returns {response is Response}
 */
export function isFetchResponse(response) {
  return typeof response === 'object' && 'bodyUsed' in response && typeof response.clone === 'function';
}

/**
 * Return the members of a response.
 *
 * @param {string | JsonObject} body
 * @param {Headers | null} headers
 * @returns {Members}
 */
export function readMembers(body, headers) {
  const { place, content } = readBody(body);
  const bodyEnvelope = asEnvelope(content[MEMBERS.envelope]);
  const headerEnvelope = asEnvelope(decode(headers?.get(HEADERS.envelope) ?? ''));
  const service = content[MEMBERS.service];
  const context = isObject(service) ? service[MEMBERS.customerContext] : null;
  // A page with an element of that id, or an object with that member, may be the product's own.
  const envelope = headerEnvelope ?? bodyEnvelope;
  return {
    envelope,
    place: envelope && (headerEnvelope ? 'header' : place),
    context: isObject(context) ? context : null,
  };
}

/** @param {unknown} member */
function asEnvelope(member) {
  return isObject(member) && member.v === contract.version ? member : null;
}

/**
 * Return the JSON of a header in base64url, or null.
 *
 * @param {string} header
 */
function decode(header) {
  const bytes = header && header.length <= HEADERS.maxEnvelopeBytes ? decodeBase64url(header) : null;
  return bytes && parse(new TextDecoder().decode(bytes));
}

/**
 * Return what a body is, `json` or `html`, and its members.
 *
 * @param {string | JsonObject} body
 * @returns {{place: string, content: JsonObject}}
 */
function readBody(body) {
  if (typeof body !== 'string') {
    return { place: 'json', content: body };
  }
  const content = parse(body);
  if (content !== undefined) {
    return { place: 'json', content: isObject(content) ? content : {} };
  }
  return { place: 'html', content: readPage(body) };
}

/**
 * @param {string} html
 * @returns {JsonObject}
 */
function readPage(html) {
  const scripts = readScripts(html, HTML.type);
  return {
    [MEMBERS.envelope]: parse(scripts.get(HTML.envelopeId) ?? ''),
    [MEMBERS.service]: parse(scripts.get(HTML.contextId) ?? ''),
  };
}

/**
 * Return JSON, or undefined for anything else.
 *
 * @param {string} text
 * @returns {unknown}
 */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
