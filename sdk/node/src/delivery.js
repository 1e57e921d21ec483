/** The shapes in which a body carries the envelope and the context action; a new shape is a class of this file. */

import { insertScripts, readPage } from './html_insert.js';
import { appendMembers, isObject, parseJson } from './json_splice.js';
import { contract } from './protocol.js';

/** @typedef {import('./interaction.js').Surface} Surface */

export const ENVELOPE = contract.members.envelope;
export const SERVICE = contract.members.service;

/**
 * The ids of the elements that carry a member in HTML.
 * @type {Record<string, string>}
 */
const HTML_IDS = { [ENVELOPE]: contract.html.envelopeId, [SERVICE]: contract.html.contextId };

/**
 * A body to which members can be added.
 * @typedef {object} Shape
 * @property {Surface} surface telemetry's name for an envelope in such a body
 * @property {boolean} fallsBackToHeader whether the header carries an envelope for which the body has no room
 * @property {(member: string) => boolean} hasRoom tells whether a member can be added
 * @property {(members: Record<string, string>) => Uint8Array} add returns the body with members, whose values are JSON;
 *   every other byte stays
 */

/**
 * A JSON object, which gets further members. One that has an envelope already is left alone.
 * @implements {Shape}
 */
class JsonObjectShape {
  /** @type {Surface} */
  surface = 'http_json';
  fallsBackToHeader = false;
  #body;
  #content;

  /**
   * @param {Uint8Array} body
   * @param {Record<string, unknown>} content
   */
  constructor(body, content) {
    this.#body = body;
    this.#content = content;
  }

  /** @param {string} member */
  hasRoom(member) {
    return !Object.hasOwn(this.#content, member);
  }

  /** @param {Record<string, string>} members */
  add(members) {
    return appendMembers(this.#body, members);
  }
}

/**
 * A JSON array or scalar, which has no room for anything.
 * @implements {Shape}
 */
class JsonValueShape {
  /** @type {Surface} */
  surface = 'http_json';
  fallsBackToHeader = true;

  hasRoom() {
    return false;
  }

  /** @returns {never} */
  add() {
    throw new TypeError('an array or a scalar has no members');
  }
}

/**
 * A page, which gets script elements.
 * @implements {Shape}
 */
class HtmlShape {
  /** @type {Surface} */
  surface = 'http_html';
  fallsBackToHeader = true;
  #body;
  #page;

  /**
   * @param {Uint8Array} body
   * @param {import('./html_insert.js').Page} page
   */
  constructor(body, page) {
    this.#body = body;
    this.#page = page;
  }

  /** @param {string} member */
  hasRoom(member) {
    return !this.#page.ids.has(HTML_IDS[member]);
  }

  /** @param {Record<string, string>} members */
  add(members) {
    const contents = Object.fromEntries(Object.entries(members).map(([name, json]) => [HTML_IDS[name], json]));
    return insertScripts(this.#body, this.#page.offset, contents);
  }
}

/**
 * Return the shape of a body; null where it is invalid or ambiguous.
 * @param {'json' | 'html'} kind
 * @param {Uint8Array} body
 * @returns {Shape | null}
 */
export function readShape(kind, body) {
  if (kind === 'html') {
    const page = readPage(body);
    return page && new HtmlShape(body, page);
  }
  const content = parseJson(body);
  if (content === undefined) {
    return null;
  }
  return isObject(content) ? new JsonObjectShape(body, content) : new JsonValueShape();
}
