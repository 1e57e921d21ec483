import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cleanHint, userAgentHint } from '../src/hint.js';
import { cases } from './vectors.js';

describe('hint', () => {
  for (const { name, input, expected } of cases('hint')) {
    it(name, () => {
      const hint = 'text' in input ? cleanHint(input.text) : userAgentHint(input.userAgent);
      assert.equal(hint, expected);
    });
  }

  it('is nothing where there is no text', () => {
    assert.equal(cleanHint(7), null);
    assert.equal(userAgentHint(undefined), null);
  });
});
