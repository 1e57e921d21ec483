/** Base64url without padding (RFC 4648, section 5). */

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const TEXT = /^[A-Za-z0-9_-]*$/;

/**
 * Return bytes as text.
 * @param {Uint8Array} bytes
 * @returns {string}
 */
export function encodeBase64url(bytes) {
  let text = '';
  for (let index = 0; index < bytes.length; index += 3) {
    const size = Math.min(3, bytes.length - index);
    const bits = (byteAt(bytes, index) << 16) | (byteAt(bytes, index + 1) << 8) | byteAt(bytes, index + 2);
    for (let place = 0; place <= size; place += 1) {
      text += ALPHABET.charAt((bits >> (18 - 6 * place)) & 0x3f);
    }
  }
  return text;
}

/**
 * Return the bytes of a text, or null if it is no base64url.
 * @param {string} text
 * @returns {Uint8Array | null}
 */
export function decodeBase64url(text) {
  if (!TEXT.test(text) || text.length % 4 === 1) {
    return null;
  }
  const characters = globalThis.atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(characters, (character) => character.charCodeAt(0));
}

/**
 * @param {Uint8Array} bytes
 * @param {number} index
 * @returns {number} the byte, or 0 beyond the end
 */
function byteAt(bytes, index) {
  return bytes[index] ?? 0;
}
