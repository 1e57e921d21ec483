import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { discoveryLink, envelopeHeader } from '../src/header.js';
import { cases } from './vectors.js';

describe('header', () => {
  for (const { name, input, expected } of cases('header')) {
    it(name, () => {
      const value = 'json' in input ? envelopeHeader(input.json) : discoveryLink(input.endpoint);
      assert.equal(value, expected);
    });
  }
});
