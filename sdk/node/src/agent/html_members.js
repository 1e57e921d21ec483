/** Read the script elements that products insert into their pages. */

const NAME = /\/?[A-Za-z][^\s/>]*/y;
const ATTRIBUTE = /[\s/]*([^\s/>][^\s/>=]*)(?:\s*=\s*(["']|[^\s>"']*))?/y;
const TAG_END = /[\s/]*>/y;
const RAW_NAMES = ['script', 'style', 'textarea', 'title', 'xmp', 'iframe', 'noembed', 'noframes', 'noscript'];
/** @type {Map<string, RegExp>} */
const RAW_ENDS = new Map(RAW_NAMES.map((name) => [name, new RegExp(`</${name}(?=[\\s/>])`, 'gi')]));

/**
 * Return the text of each script element with an id and this type, by its id; the first element of an id counts.
 *
 * What comes after markup that does not end is not read.
 * @param {string} html
 * @param {string} type
 * @returns {Map<string, string>}
 */
export function readScripts(html, type) {
  /** @type {Map<string, string>} */
  const scripts = new Map();
  let position = html.indexOf('<');
  while (position >= 0) {
    const element = readMarkup(html, position);
    const id = element.attributes.get('id');
    const isScript = element.name === 'script' && element.attributes.get('type') === type;
    if (isScript && id !== undefined && element.end >= 0 && !scripts.has(id)) {
      scripts.set(id, html.slice(element.start, element.end));
    }
    position = element.end < 0 ? -1 : html.indexOf('<', element.end);
  }
  return scripts;
}

/**
 * @typedef {object} Markup a tag with its raw text, a comment, or a sign that begins nothing
 * @property {string} name
 * @property {Map<string, string>} attributes
 * @property {number} start of the raw text
 * @property {number} end where markup goes on; -1 where it does not
 */

/**
 * @param {string} html
 * @param {number} position of a `<`
 * @returns {Markup}
 */
function readMarkup(html, position) {
  const name = (matchAt(NAME, html, position + 1)?.[0] ?? '').toLowerCase();
  if (name === '') {
    return { name, attributes: new Map(), start: position, end: otherEnd(html, position) };
  }
  const { attributes, end: start } = readAttributes(html, position + 1 + name.length);
  const rawEnd = start < 0 ? undefined : RAW_ENDS.get(name);
  if (rawEnd === undefined) {
    return { name, attributes, start, end: start };
  }
  rawEnd.lastIndex = start;
  return { name, attributes, start, end: rawEnd.exec(html)?.index ?? -1 };
}

/**
 * @param {string} html
 * @param {number} position
 */
function otherEnd(html, position) {
  if (html.startsWith('<!--', position)) {
    const end = html.indexOf('-->', position + 2);
    return end < 0 ? -1 : end + 3;
  }
  return position + 1;
}

/**
 * Return the attributes of a tag, by lower-cased names, and the offset after it, -1 if it does not end.
 *
 * @param {string} html
 * @param {number} start
 */
function readAttributes(html, start) {
  /** @type {Map<string, string>} */
  const attributes = new Map();
  let position = start;
  for (;;) {
    const tagEnd = matchAt(TAG_END, html, position);
    if (tagEnd) {
      return { attributes, end: position + tagEnd[0].length };
    }
    const attribute = matchAt(ATTRIBUTE, html, position);
    if (!attribute) {
      return { attributes, end: -1 };
    }
    const [whole, name = '', value = ''] = attribute;
    const { text, end } = readValue(html, position + whole.length, value);
    if (end < 0) {
      return { attributes, end };
    }
    if (!attributes.has(name.toLowerCase())) {
      attributes.set(name.toLowerCase(), text);
    }
    position = end;
  }
}

/**
 * Return the value of an attribute that begins with a quotation mark, or is one without, and the offset after it.
 *
 * @param {string} html
 * @param {number} position
 * @param {string} value
 */
function readValue(html, position, value) {
  if (value !== '"' && value !== "'") {
    return { text: value, end: position };
  }
  const end = html.indexOf(value, position);
  return { text: html.slice(position, end), end: end < 0 ? -1 : end + 1 };
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
