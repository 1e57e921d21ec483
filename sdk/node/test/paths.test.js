import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PathRules } from '../src/paths.js';
import { cases } from './vectors.js';

describe('paths', () => {
  for (const { name, input, expected } of cases('paths')) {
    it(name, () => assert.equal(new PathRules(input.include, input.exclude).covers(input.path), expected));
  }
});
