/** Insert members into the text of a JSON object without changing any other byte of it. */

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

const SPACES = new Set([0x20, 0x09, 0x0a, 0x0d]);
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/**
 * Return what the bytes hold as JSON, or undefined if they are no JSON in UTF-8.
 * @param {Uint8Array} body
 * @returns {unknown}
 */
export function parseJson(body) {
  try {
    return JSON.parse(decoder.decode(body));
  } catch {
    return undefined;
  }
}

/**
 * Return an object's text with these as its last members, or null if the body is no JSON object.
 * @param {Uint8Array} body
 * @param {Record<string, string>} members names and their values, which are JSON
 * @returns {Uint8Array | null}
 */
export function spliceMembers(body, members) {
  const content = parseJson(body);
  const isTaken = isObject(content) && Object.keys(members).some((name) => Object.hasOwn(content, name));
  return isObject(content) && !isTaken ? appendMembers(body, members) : null;
}

/**
 * Return an object's text with these as its last members.
 * @param {Uint8Array} body the text of a JSON object, perhaps with white space around it
 * @param {Record<string, string>} members names and their values, which are JSON
 * @returns {Uint8Array}
 */
export function appendMembers(body, members) {
  let end = body.length - 1;
  while (body[end] !== CLOSING_BRACE) {
    end -= 1;
  }
  let last = end - 1;
  while (SPACES.has(body[last])) {
    last -= 1;
  }
  const text = Object.entries(members).map(([name, json]) => `${JSON.stringify(name)}:${json}`);
  const addition = encoder.encode((body[last] === OPENING_BRACE ? '' : ',') + text.join(','));
  return insertBytes(body, end, addition);
}

/**
 * Return bytes with others inserted at an offset.
 * @param {Uint8Array} body
 * @param {number} offset
 * @param {Uint8Array} addition
 * @returns {Uint8Array}
 */
export function insertBytes(body, offset, addition) {
  const result = new Uint8Array(body.length + addition.length);
  result.set(body.subarray(0, offset));
  result.set(addition, offset);
  result.set(body.subarray(offset), offset + addition.length);
  return result;
}

/**
 * @param {unknown} content
 * @returns {content is Record<string, unknown>} whether it is a JSON object
 */
export function isObject(content) {
  return typeof content === 'object' && content !== null && !Array.isArray(content);
}
