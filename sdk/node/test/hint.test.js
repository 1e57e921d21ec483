import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cleanHint, userAgentHint } from '../src/hint.js';
import { bounded } from './bounded.js';
import { cases } from './vectors.js';

describe('hint', () => {
  for (const { name, input, expected } of cases('hint')) {
    it(name, () => {
      const hint = 'text' in input ? cleanHint(input.text) : userAgentHint(input.userAgent);
      assert.equal(hint, expected);
    });
  }

  it('is found in a long word', () => {
    const word = 'a'.repeat(1_000_000);
    assert.equal(
      bounded(() => userAgentHint(word)),
      word.slice(0, 200),
    );
    assert.equal(
      bounded(() => userAgentHint(`b/1 (c/2;${word}@d.example) e/3`)),
      'b/1 c/2',
    );
  });

  it('is nothing where there is no text', () => {
    assert.equal(cleanHint(7), null);
    assert.equal(userAgentHint(undefined), null);
  });
});
