import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { consentSubject } from '../src/capability.js';
import { cases } from './vectors.js';

describe('subject', () => {
  for (const { name, input, expected } of cases('subject')) {
    it(name, () => assert.equal(consentSubject(input.scope, input.customerRef), expected));
  }
});
