import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decodeBase64url, encodeBase64url } from '../src/base64url.js';
import * as node from '../src/crypto/node.js';
import * as web from '../src/crypto/web.js';

const bytes = fc.uint8Array({ maxLength: 300 });

describe('crypto', () => {
  it("digests as Node's own SHA-256 does", () => {
    fc.assert(
      fc.property(bytes, (message) => assert.deepEqual(web.sha256(message), new Uint8Array(node.sha256(message)))),
    );
    for (let length = 0; length < 200; length += 1) {
      const text = 'é'.repeat(length);
      assert.deepEqual(web.sha256(text), new Uint8Array(node.sha256(text)));
    }
  });

  it("signs as Node's own HMAC does, also with a long key", () => {
    const property = fc.property(bytes, bytes, (key, message) =>
      assert.deepEqual(web.hmacSha256(key, message), new Uint8Array(node.hmacSha256(key, message))),
    );
    fc.assert(property);
    assert.deepEqual(web.hmacSha256(new Uint8Array(65), 'a'), new Uint8Array(node.hmacSha256(new Uint8Array(65), 'a')));
  });

  for (const [name, { randomBytes }] of Object.entries({ node, web })) {
    it(`never gives the same random bytes twice (${name})`, () => {
      const texts = Array.from({ length: 1000 }, () => Buffer.from(randomBytes(18)).toString('hex'));
      assert.equal(new Set(texts).size, texts.length);
    });
  }

  it("reads and writes base64url as Node's own", () => {
    const property = fc.property(bytes, (content) => {
      const text = encodeBase64url(content);
      assert.equal(text, Buffer.from(content).toString('base64url'));
      assert.deepEqual(decodeBase64url(text), content);
    });
    fc.assert(property);
    assert.equal(decodeBase64url('a'), null);
    assert.equal(decodeBase64url('ab=='), null);
  });
});
