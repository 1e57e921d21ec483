/** What an adapter says of a request, in every framework alike. */

import { percentDecode } from './percent.js';

/**
 * @typedef {object} Request
 * @property {object} source the framework's request, which callbacks are given
 * @property {object[]} aliases further objects that stand for the request in the product's code
 * @property {string} method
 * @property {string} target path and query of the request line
 * @property {string} path the decoded path, with that under which the product is mounted
 * @property {string} mount the path under which the product is mounted, or an empty text
 * @property {(name: string) => string | null} header
 * @property {() => string | null | undefined} clientIp
 */

/**
 * Return a request from the parts that an adapter knows.
 * @param {Omit<Request, 'path' | 'aliases' | 'mount'> & {aliases?: object[], mount?: string}} parts
 * @returns {Request}
 */
export function readRequest(parts) {
  const target = originForm(parts.target);
  return { aliases: [], mount: '', ...parts, target, path: pathOf(target) };
}

/**
 * Return the decoded path of a target.
 * @param {string} target
 * @returns {string}
 */
export function pathOf(target) {
  const end = target.search(/[?#]/);
  return percentDecode(end < 0 ? target : target.slice(0, end));
}

/**
 * Return path and query of a target that may be a whole URL, as a proxy is asked.
 * @param {string} target
 */
function originForm(target) {
  return target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '') || '/';
}
