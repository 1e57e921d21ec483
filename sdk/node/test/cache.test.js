import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { applyCacheMode } from '../src/cache.js';
import { indexHeaders } from '../src/eligibility.js';
import { cases } from './vectors.js';

describe('cache', () => {
  for (const { name, input, expected } of cases('cache')) {
    it(name, () => {
      const { cacheMode, method = 'GET', target = '/', requestHeaders = [] } = input;
      const request = indexHeaders(requestHeaders).get('agent-feedback-request') ?? null;
      assert.deepEqual(
        applyCacheMode({ cacheMode, headers: indexHeaders(input.headers), method, target, request }),
        expected,
      );
    });
  }

  it('links to no other host, and keeps the target within its brackets', () => {
    const facts = { cacheMode: 'request', headers: new Map(), method: 'GET', request: null };
    assert.equal(applyCacheMode({ ...facts, target: '//evil.example/a' }).addedHeaders.length, 1);
    assert.match(applyCacheMode({ ...facts, target: '/a>b' }).addedHeaders[1][1], /^<\/a%3Eb>;/);
    const [, [, link]] = applyCacheMode({ ...facts, target: '/<"> \u0000\t\u007f\u0085' }).addedHeaders;
    assert.match(link, /^<\/%3C%22%3E%20%00%09%7F%C2%85>;/);
  });

  it('gives HEAD no envelope in any mode', () => {
    for (const cacheMode of ['safe', 'private', 'request']) {
      const facts = { cacheMode, headers: new Map(), method: 'HEAD', target: '/', request: '1' };
      assert.equal(applyCacheMode(facts).hasEnvelope, false);
    }
  });
});
