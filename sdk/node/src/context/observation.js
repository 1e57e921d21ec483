/** The observation of an HTTP request: the fixed list of members that are sent to the service. */

import { contract } from '../protocol.js';

const BOUNDS = contract.observation;
const METHOD = new RegExp(BOUNDS.method.pattern);
const MOBILE = new RegExp(BOUNDS.secChUaMobile.pattern);
const HOST = /^(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])$/;
const IPV4 = /^(?:(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(?:\.(?!$)|$)){4}$/;
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]|[^\S ]/u;

/**
 * @typedef {object} RequestFacts
 * @property {string | null | undefined} clientIp the peer's address as the product's server has it: a product behind a
 *   proxy sets it from the headers that it trusts
 * @property {string} method
 * @property {(name: string) => string | null | undefined} header
 */

/**
 * Return the observation of a request, without members that are missing or malformed.
 *
 * @param {RequestFacts} request
 * @returns {Record<string, string>}
 */
export function observe({ clientIp, method, header }) {
  const members = {
    clientIp: address(clientIp),
    method: METHOD.test(method) ? method : null,
    userAgent: text(header('user-agent'), BOUNDS.userAgent.maxLength),
    acceptLanguage: text(header('accept-language'), BOUNDS.acceptLanguage.maxLength),
    referrerOrigin: origin(header('referer')),
    secChUaPlatform: text(header('sec-ch-ua-platform'), BOUNDS.secChUaPlatform.maxLength),
    secChUaMobile: matching(MOBILE, header('sec-ch-ua-mobile')),
  };
  return Object.fromEntries(Object.entries(members).flatMap(([name, value]) => (value ? [[name, value]] : [])));
}

/** @param {string | null | undefined} value */
function address(value) {
  // The zone of an IPv6 address names an interface of this machine.
  const [plain = ''] = (value ?? '').split('%');
  if (IPV4.test(plain)) {
    return plain;
  }
  if (!plain.includes(':') || !URL.canParse(`http://[${plain}]`)) {
    return null;
  }
  const normalized = new URL(`http://[${plain}]`).hostname.slice(1, -1);
  return mappedAddress(normalized) ?? normalized;
}

/**
 * Return the IPv4 address in a normalized IPv6 one, as a socket for both families writes them, or null.
 *
 * @param {string} normalized
 */
function mappedAddress(normalized) {
  const groups = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(normalized);
  if (!groups) {
    return null;
  }
  const [high, low] = [groups[1], groups[2]].map((group) => Number.parseInt(group ?? '', 16));
  return [high, low].flatMap((part = 0) => [part >> 8, part & 0xff]).join('.');
}

/**
 * @param {RegExp} pattern
 * @param {string | null | undefined} value
 */
function matching(pattern, value) {
  return value && pattern.test(value) ? value : null;
}

/**
 * @param {string | null | undefined} value
 * @param {number} maxLength
 */
function text(value, maxLength) {
  if (!value || UNPRINTABLE.test(value)) {
    return null;
  }
  return [...value.trim()].slice(0, maxLength).join('');
}

/**
 * Return the origin of a URL; its path and query may hold personal data.
 *
 * @param {string | null | undefined} value
 */
function origin(value) {
  if (!value || !/^https?:\/\//i.test(value) || !URL.canParse(value)) {
    return null;
  }
  const url = new URL(value);
  const text = url.origin;
  return HOST.test(url.hostname) && text.length <= BOUNDS.referrerOrigin.maxLength ? text : null;
}
