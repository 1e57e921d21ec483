import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { contentKind, indexHeaders } from '../src/eligibility.js';
import { cases } from './vectors.js';

describe('eligibility', () => {
  for (const { name, input, expected } of cases('eligibility')) {
    it(name, () => assert.equal(contentKind(input.status, indexHeaders(input.headers)), expected));
  }

  it('counts a header that is sent twice as one', () => {
    const headers = indexHeaders([
      ['Content-Encoding', ['identity', 'gzip']],
      ['content-type', 'application/json'],
    ]);
    assert.equal(contentKind(200, headers), null);
  });
});
