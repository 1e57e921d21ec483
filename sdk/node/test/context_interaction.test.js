/** The interaction of a context retry is signed and recognised as the vectors say. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { isSignedInteraction, signedInteraction } from '../src/context/interaction.js';
import { stampedBytes } from '../src/interaction_id.js';
import { CompanyKey } from '../src/keys.js';
import { cases } from './vectors.js';

for (const { name, input, expected } of cases('context_interaction')) {
  const key = new CompanyKey(input.companyKey);
  test(name, () => {
    if ('interactionId' in input) {
      assert.equal(isSignedInteraction(input.interactionId, key, input.route), expected);
      return;
    }
    const head = stampedBytes(input.milliseconds, Buffer.from(input.randomness, 'hex'));
    assert.equal(signedInteraction(key, input.route, head), expected);
    assert.ok(isSignedInteraction(expected, key, input.route));
  });
}
