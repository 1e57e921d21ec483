/**
 * SHA-256 (FIPS 180-4), for platforms whose own digest only comes as a promise: an envelope is made while a response is
 * written, and cannot wait.
 */

const BLOCK_BYTES = 64;
const PRIMES = firstPrimes(64);
const INITIAL = Uint32Array.from(PRIMES.slice(0, 8), (prime) => fractionBits(Math.sqrt(prime)));
const CONSTANTS = Uint32Array.from(PRIMES, (prime) => fractionBits(Math.cbrt(prime)));

/**
 * Return the digest of bytes.
 * @param {Uint8Array} message
 * @returns {Uint8Array}
 */
export function digest(message) {
  const padded = pad(message);
  const view = new DataView(padded.buffer);
  const state = INITIAL.slice();
  const words = new Uint32Array(BLOCK_BYTES);
  for (let offset = 0; offset < padded.length; offset += BLOCK_BYTES) {
    for (let index = 0; index < 16; index += 1) {
      words[index] = view.getUint32(offset + 4 * index);
    }
    compress(state, words);
  }
  const output = new DataView(new ArrayBuffer(32));
  state.forEach((word, index) => output.setUint32(4 * index, word));
  return new Uint8Array(output.buffer);
}

/**
 * Return the HMAC of bytes (RFC 2104).
 * @param {Uint8Array} key
 * @param {Uint8Array} message
 * @returns {Uint8Array}
 */
export function hmac(key, message) {
  const block = new Uint8Array(BLOCK_BYTES);
  block.set(key.length > BLOCK_BYTES ? digest(key) : key);
  const inner = digest(
    join(
      block.map((byte) => byte ^ 0x36),
      message,
    ),
  );
  return digest(
    join(
      block.map((byte) => byte ^ 0x5c),
      inner,
    ),
  );
}

/**
 * @param {Uint32Array} state
 * @param {Uint32Array} words whose first 16 are the block; the others are overwritten
 */
function compress(state, words) {
  for (let index = 16; index < 64; index += 1) {
    const early = words[index - 15];
    const late = words[index - 2];
    const first = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
    const second = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
    words[index] = words[index - 16] + first + words[index - 7] + second;
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let index = 0; index < 64; index += 1) {
    const high = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const sum = h + high + ((e & f) ^ (~e & g)) + CONSTANTS[index] + words[index];
    const low = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const major = (a & b) ^ (a & c) ^ (b & c);
    h = g;
    g = f;
    f = e;
    e = (d + sum) | 0;
    d = c;
    c = b;
    b = a;
    a = (sum + low + major) | 0;
  }
  [a, b, c, d, e, f, g, h].forEach((word, index) => {
    state[index] += word;
  });
}

/**
 * Return the message with a one, zeros and its length in bits, in whole blocks.
 * @param {Uint8Array} message
 * @returns {Uint8Array<ArrayBuffer>}
 */
function pad(message) {
  const padded = new Uint8Array(Math.ceil((message.length + 9) / BLOCK_BYTES) * BLOCK_BYTES);
  padded.set(message);
  padded[message.length] = 0x80;
  new DataView(padded.buffer).setBigUint64(padded.length - 8, BigInt(message.length) * 8n);
  return padded;
}

/**
 * @param {Uint8Array} head
 * @param {Uint8Array} tail
 * @returns {Uint8Array}
 */
function join(head, tail) {
  const bytes = new Uint8Array(head.length + tail.length);
  bytes.set(head);
  bytes.set(tail, head.length);
  return bytes;
}

/**
 * @param {number} word
 * @param {number} count
 * @returns {number} the 32 bits, rotated to the right
 */
function rotate(word, count) {
  return (word >>> count) | (word << (32 - count));
}

/**
 * @param {number} root
 * @returns {number} the first 32 bits behind the point
 */
function fractionBits(root) {
  return Math.floor((root - Math.floor(root)) * 2 ** 32);
}

/**
 * @param {number} count
 * @returns {number[]}
 */
function firstPrimes(count) {
  /** @type {number[]} */
  const primes = [];
  for (let number = 2; primes.length < count; number += 1) {
    if (primes.every((prime) => number % prime !== 0)) {
      primes.push(number);
    }
  }
  return primes;
}
