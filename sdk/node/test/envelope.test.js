import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { buildEnvelope, encodeEnvelope } from '../src/envelope.js';
import { cases } from './vectors.js';

describe('envelope', () => {
  for (const { name, input, expected } of cases('envelope')) {
    it(name, () => assert.deepEqual(buildEnvelope(input), expected));

    it(`${name}, encoded`, () => {
      const json = encodeEnvelope(input);
      assert.deepEqual(json && JSON.parse(json), expected);
    });
  }

  it('is the same for two responses but for the capability and its end', () => {
    const facts = cases('envelope')[0].input;
    assert.equal(encodeEnvelope({ ...facts, capability: 'afr2_$&' }).includes('"Bearer afr2_$&"'), true);
    assert.equal(encodeEnvelope(facts), JSON.stringify(buildEnvelope(facts)));
  });

  it('is ASCII, whatever the name of the service is', () => {
    const facts = { ...cases('envelope')[2].input, serviceName: 'Rückmeldung $& 😀' };
    const json = encodeEnvelope(facts);
    assert.match(json, /^[ -~]+$/);
    assert.deepEqual(JSON.parse(json), buildEnvelope(facts));
  });

  it('stays below 2,048 bytes in the mode never_ask with an endpoint of 60 characters', () => {
    const capability = cases('envelope')[0].input.capability;
    const endpoint = 'https://feedback.example.com/'.padEnd(60, 'x');
    const facts = { endpoint, capability, expiresAt: 1715007200, mode: 'never_ask', hasCustomer: false };
    assert.ok(encodeEnvelope({ ...facts, decision: 'unknown', serviceName: 'x' }).length < 2048);
  });
});
