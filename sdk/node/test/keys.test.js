import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { CompanyKey, ProductKey } from '../src/keys.js';
import { cases } from './vectors.js';

const TEXT = `af_live_${'0123456789abcdef'.repeat(2)}_conformance_secret_0123456789abcdef`;

describe('keys', () => {
  for (const { name, input, expected } of cases('keys')) {
    it(name, () => {
      const Key = input.kind === 'product' ? ProductKey : CompanyKey;
      if (!expected.isValid) {
        assert.throws(() => new Key(input.key), TypeError);
        return;
      }
      const { isValid, ...parts } = { isValid: true, ...expected };
      const key = /** @type {any} */ (new Key(input.key));
      assert.deepEqual(Object.fromEntries(Object.keys(parts).map((part) => [part, key[part]])), parts, String(isValid));
      assert.equal(key.reveal(), input.key);
    });
  }

  for (const key of [new ProductKey(TEXT), new CompanyKey(TEXT)]) {
    it(`does not show the secret of a ${key.constructor.name}`, () => {
      const texts = [`${key}`, inspect({ key }, { depth: 9, showHidden: true }), JSON.stringify({ key }), key + ''];
      for (const text of texts) {
        assert.match(text, /af_live_(0123456789abcdef){2}_…/);
        assert.doesNotMatch(text, /secret/);
      }
    });
  }
});
