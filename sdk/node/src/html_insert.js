/** Insert a script element into HTML where every parser reads it as one. */

import { insertBytes } from './json_splice.js';
import { contract } from './protocol.js';

// One character for each byte, so that offsets in the text are offsets in the bytes.
const decoder = new TextDecoder('latin1');
const encoder = new TextEncoder();

const NAME = /\/?[A-Za-z][^ \t\r\n\f/>]*/y;
const GAP = /[ \t\r\n\f/]*/y;
// An attribute's name may begin with an equals sign but not contain one.
const ATTRIBUTE = /([^ \t\r\n\f/>][^ \t\r\n\f/>=]*)([ \t\r\n\f]*=[ \t\r\n\f]*)?/y;
const UNQUOTED = /[^ \t\r\n\f>]*/y;
const COMMENT_END = /--!?>/g;
const SCRIPT_START = /<script/i;
/** @type {Map<string, RegExp>} */
const RAW_ENDS = new Map(
  contract.html.rawElements.map((/** @type {string} */ name) => [
    name,
    new RegExp(`</${name}(?=[ \\t\\r\\n\\f/>])`, 'gi'),
  ]),
);

/** The markup ends within a tag, comment or raw text, or parsers differ over it. */
class AmbiguousMarkup extends Error {}

/**
 * A page to which script elements can be added.
 * @typedef {object} Page
 * @property {number} offset before the first `</head>`, else the last `</body>`, else at the end
 * @property {Set<string>} ids those that its elements have
 */

/**
 * Return a page with a script element, or null where it is left alone.
 * @param {Uint8Array} body
 * @param {string} elementId
 * @param {string} json the element's content
 * @returns {Uint8Array | null}
 */
export function insertElement(body, elementId, json) {
  const page = readPage(body);
  return page === null || page.ids.has(elementId) ? null : insertScripts(body, page.offset, { [elementId]: json });
}

/**
 * Return the page with script elements at an offset.
 * @param {Uint8Array} body
 * @param {number} offset
 * @param {Record<string, string>} contents JSON by the ids of the elements
 * @returns {Uint8Array}
 */
export function insertScripts(body, offset, contents) {
  const elements = Object.entries(contents).map(([id, json]) => {
    return `<script id="${id}" type="${contract.html.type}">${json.replaceAll('<', '\\u003c')}</script>`;
  });
  return insertBytes(body, offset, encoder.encode(elements.join('')));
}

/**
 * Read a page; null where it is empty, not of ASCII-compatible bytes, or its markup is ambiguous.
 * @param {Uint8Array} body
 * @returns {Page | null}
 */
export function readPage(body) {
  const text = isOtherEncoding(body) ? '' : decoder.decode(body);
  if (text.trim() === '') {
    return null;
  }
  try {
    return scan(text);
  } catch (error) {
    if (error instanceof AmbiguousMarkup) {
      return null;
    }
    throw error;
  }
}

/**
 * @param {string} text
 * @returns {Page}
 */
function scan(text) {
  const ids = new Set();
  let headEnd = -1;
  let bodyEnd = -1;
  for (const tag of tags(text)) {
    if (tag.name === '/head' && headEnd < 0) {
      headEnd = tag.start;
    } else if (tag.name === '/body') {
      bodyEnd = tag.start;
    } else if (tag.id !== null) {
      ids.add(tag.id);
    }
  }
  return { offset: [headEnd, bodyEnd].find((place) => place >= 0) ?? text.length, ids };
}

/** @param {Uint8Array} body */
function isOtherEncoding(body) {
  const mark = (body[0] << 8) | body[1];
  return mark === 0xfeff || mark === 0xfffe || body.subarray(0, 4).includes(0);
}

/**
 * Return the tags of a page: their offset, their lower-case name with `/` before that of an end tag, and their id.
 * @param {string} text
 * @returns {Generator<{start: number, name: string, id: string | null}>}
 */
function* tags(text) {
  let position = text.indexOf('<');
  while (position >= 0) {
    const name = matchAt(NAME, text, position + 1);
    if (name) {
      const word = name[0].toLowerCase();
      const tag = readTag(text, position + 1 + word.length);
      yield { start: position, name: word, id: tag.id };
      position = markupStart(text, tag.end, word);
    } else {
      position = skipOther(text, position);
    }
    position = text.indexOf('<', position);
  }
}

/**
 * Return the offset after a comment or declaration, or a sign that begins no markup.
 * @param {string} text
 * @param {number} position
 */
function skipOther(text, position) {
  if (text.startsWith('<!--', position)) {
    return commentEnd(text, position);
  }
  if (text.startsWith('<![CDATA[', position)) {
    throw new AmbiguousMarkup();
  }
  return '!?/'.includes(text.charAt(position + 1) || ' ') ? endOf(text, '>', position) : position + 1;
}

/**
 * Return the offset after a tag, and its id attribute if it has one.
 * @param {string} text
 * @param {number} start
 */
function readTag(text, start) {
  /** @type {string | null} */
  let id = null;
  let position = skip(GAP, text, start);
  while (text[position] !== '>') {
    const attribute = matchAt(ATTRIBUTE, text, position);
    if (attribute === null) {
      throw new AmbiguousMarkup();
    }
    position += attribute[0].length;
    if (attribute[2] !== undefined) {
      const value = readValue(text, position);
      position = value.end;
      id ??= attribute[1].toLowerCase() === 'id' ? value.text : null;
    }
    position = skip(GAP, text, position);
  }
  return { end: position + 1, id };
}

/**
 * @param {string} text
 * @param {number} position
 */
function readValue(text, position) {
  const quote = text.charAt(position);
  if (quote === '"' || quote === "'") {
    const end = endOf(text, quote, position + 1);
    return { text: text.slice(position + 1, end - 1), end };
  }
  const end = skip(UNQUOTED, text, position);
  return { text: text.slice(position, end), end };
}

/**
 * Return the offset after the next delimiter.
 * @param {string} text
 * @param {string} delimiter
 * @param {number} start
 */
function endOf(text, delimiter, start) {
  const offset = text.indexOf(delimiter, start);
  if (offset < 0) {
    throw new AmbiguousMarkup();
  }
  return offset + delimiter.length;
}

/**
 * @param {string} text
 * @param {number} position
 */
function commentEnd(text, position) {
  const emptyComment = ['<!-->', '<!--->'].find((comment) => text.startsWith(comment, position));
  if (emptyComment !== undefined) {
    return position + emptyComment.length;
  }
  COMMENT_END.lastIndex = position + 4;
  if (!COMMENT_END.test(text)) {
    throw new AmbiguousMarkup();
  }
  return COMMENT_END.lastIndex;
}

/**
 * Return the offset at which markup begins again: the end tag of an element with raw text.
 * @param {string} text
 * @param {number} position
 * @param {string} name
 */
function markupStart(text, position, name) {
  if (name === 'plaintext') {
    throw new AmbiguousMarkup();
  }
  const rawEnd = RAW_ENDS.get(name);
  if (rawEnd === undefined) {
    return position;
  }
  rawEnd.lastIndex = position;
  const end = rawEnd.exec(text)?.index ?? -1;
  if (end < 0 || (name === 'script' && hasScript(text.slice(position, end)))) {
    throw new AmbiguousMarkup();
  }
  return end;
}

/**
 * Tell whether a script has a comment in which another one begins.
 * @param {string} script
 */
function hasScript(script) {
  const comment = script.indexOf('<!--');
  return comment >= 0 && SCRIPT_START.test(script.slice(comment));
}

/**
 * @param {RegExp} expression a sticky one
 * @param {string} text
 * @param {number} position
 */
function matchAt(expression, text, position) {
  expression.lastIndex = position;
  return expression.exec(text);
}

/**
 * @param {RegExp} expression a sticky one that also matches nothing
 * @param {string} text
 * @param {number} position
 */
function skip(expression, text, position) {
  return position + (matchAt(expression, text, position)?.[0].length ?? 0);
}
