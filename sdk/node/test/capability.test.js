import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LIFETIME_S, mint } from '../src/capability.js';
import { ProductKey } from '../src/keys.js';
import { cases } from './vectors.js';

describe('capability', () => {
  for (const { name, input, expected } of cases('capability')) {
    it(name, () => assert.equal(new ProductKey(input.apiKey).sign(JSON.stringify(input.claims)), expected));

    it(`${name}, from its parts`, () => {
      const { i, iat, exp, n, s, r } = input.claims;
      const nonce = Buffer.from(n, 'base64url');
      const capability = mint(new ProductKey(input.apiKey), {
        interactionId: i,
        issuedAt: iat,
        nonce,
        subject: s,
        revision: r,
      });
      assert.equal(exp - iat, LIFETIME_S);
      // What is minted has no revision 0.
      assert.equal(r === 0 || capability === expected, true);
    });
  }
});
