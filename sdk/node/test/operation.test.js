import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { normalizeNamedOperation, normalizeOperation } from '../src/operation.js';
import { cases } from './vectors.js';

describe('operation', () => {
  for (const { name, input, expected } of cases('operation')) {
    it(name, () => {
      const operation = 'path' in input ? normalizeOperation(input.path) : normalizeNamedOperation(input.name);
      assert.equal(operation, expected);
    });
  }

  it('encodes half a surrogate pair as a replacement character', () => {
    assert.equal(normalizeOperation('/a\ud800'), '/a%EF%BF%BD');
  });
});
