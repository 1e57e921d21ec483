/** The cache of consent decisions: memory only on the way of a response, few requests behind it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ConsentCache } from '../src/consent.js';
import { readOptions } from '../src/options.js';
import { PRODUCT_KEY } from './keys_of_tests.js';
import { closedUrl, startService, until } from './service.js';

const LIMIT = { timeout: 10_000 };

function cacheFor(endpoint, settings) {
  return new ConsentCache(readOptions({ apiKey: PRODUCT_KEY, endpoint, ...settings }));
}

/** Answer that every subject has a state. */
function deciding(state, revision = 1) {
  return ({ body }) => ({ body: { subjects: body.subjects.map((subject) => ({ subject, state, revision })) } });
}

test('a miss is unknown at once, and known for the next response', LIMIT, async (context) => {
  const service = await startService(context, deciding('approved', 7));
  const cache = cacheFor(service.url);
  assert.deepEqual([cache.find('s').state, cache.find('s').revision], ['unknown', 0]);
  await cache.settle();
  assert.deepEqual([cache.find('s').state, cache.find('s').revision], ['approved', 7]);
  await cache.settle();
  const [{ path, body, headers }, ...others] = service.requests;
  assert.deepEqual([path, body], ['/api/v2/consent/state', { subjects: ['s'] }]);
  assert.equal(headers.authorization, `Bearer ${PRODUCT_KEY}`);
  assert.deepEqual(others, []);
});

test('misses of one moment share requests of fifty, of which eight run at most', LIMIT, async (context) => {
  let running = 0;
  let most = 0;
  const service = await startService(context, async (request) => {
    running += 1;
    most = Math.max(most, running);
    // Nothing is answered before as many run as may.
    await until(() => service.requests.length >= 8);
    await new Promise((resolve) => setTimeout(resolve, 50));
    running -= 1;
    return deciding('declined')(request);
  });
  const cache = cacheFor(service.url);
  for (let number = 0; number < 520; number += 1) {
    cache.find(`s${number}`);
    cache.find(`s${number}`);
  }
  await cache.settle();
  assert.deepEqual(
    service.requests.map(({ body }) => body.subjects.length).sort((first, second) => second - first),
    [...Array(10).fill(50), 20],
  );
  assert.equal(most, 8);
  assert.equal(cache.find('s519').state, 'declined');
});

test('a subject that is being asked for is not asked for again', LIMIT, async (context) => {
  const service = await startService(context, (request) => ({ ...deciding('approved')(request), delayMs: 50 }));
  const cache = cacheFor(service.url);
  cache.find('s');
  await until(() => service.requests.length === 1);
  cache.find('s');
  await cache.settle();
  assert.equal(service.requests.length, 1);
});

test('an expired decision is used until it is refreshed', LIMIT, async (context) => {
  const states = ['approved', 'declined'];
  const service = await startService(context, (request) => deciding(states.shift() ?? 'declined')(request));
  const cache = cacheFor(service.url, { consentCacheTtl: 1 });
  cache.find('s');
  await cache.settle();
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(cache.find('s').state, 'approved');
  await cache.settle();
  assert.equal(cache.find('s').state, 'declined');
  await cache.settle();
});

test('unknown is kept for two seconds at most', LIMIT, async (context) => {
  let now = 0;
  const service = await startService(context, deciding('unknown', 0));
  const cache = cacheFor(service.url);
  context.mock.method(performance, 'now', () => now);
  cache.find('s');
  await cache.settle();
  now = 1999;
  cache.find('s');
  await cache.settle();
  assert.equal(service.requests.length, 1);
  now = 2000;
  cache.find('s');
  await cache.settle();
  assert.equal(service.requests.length, 2);
});

test('the subject that was used least recently leaves', LIMIT, async (context) => {
  const service = await startService(context, deciding('approved'));
  const cache = cacheFor(service.url, { consentCacheSize: 2 });
  for (const subject of ['a', 'b', 'a', 'c']) {
    cache.find(subject);
    await cache.settle();
  }
  assert.equal(cache.find('a').state, 'approved');
  assert.equal(cache.find('b').state, 'unknown');
  await cache.settle();
});

const FAILURES = {
  'a 500': () => ({ status: 500 }),
  rubbish: () => ({ body: '<p>' }),
  'no list': () => ({ body: { subjects: 1 } }),
  'another state': deciding('maybe'),
  'a revision that is no number': deciding('approved', 'x'),
  'a subject that was not asked for': () => ({
    body: { subjects: [{ subject: 'other', state: 'approved', revision: 1 }] },
  }),
};

for (const [name, answer] of Object.entries(FAILURES)) {
  test(`a failure changes nothing: ${name}`, LIMIT, async (context) => {
    const service = await startService(context, answer);
    const cache = cacheFor(service.url);
    cache.find('s');
    await cache.settle();
    assert.equal(cache.find('s').state, 'unknown');
    assert.equal(cache.find('other').state, 'unknown');
    await cache.settle();
  });
}

const UNUSABLE_ENTRIES = {
  'none of it': [],
  null: [null],
  'a list of states': [{ subject: 's', state: ['approved'], revision: 1 }],
  'no state': [{ subject: 's', state: null, revision: 1 }],
  'a negative revision': [{ subject: 's', state: 'approved', revision: -1 }],
  'half a revision': [{ subject: 's', state: 'approved', revision: 1.5 }],
};

for (const [name, entries] of Object.entries(UNUSABLE_ENTRIES)) {
  test(`a subject without a usable answer is unknown for a while: ${name}`, LIMIT, async (context) => {
    const approved = { subject: 'other', state: 'approved', revision: 3 };
    const service = await startService(context, () => ({ body: { subjects: [...entries, approved] } }));
    const cache = cacheFor(service.url);
    cache.find('s');
    cache.find('other');
    await cache.settle();
    assert.deepEqual([cache.find('s').state, cache.find('s').revision], ['unknown', 0]);
    assert.equal(cache.find('other').state, 'approved');
    await cache.settle();
    assert.equal(service.requests.length, 1);
  });
}

for (const [status, pauseMs] of Object.entries({ 500: 1000, 401: 60_000 })) {
  test(`after a ${status} nobody is asked for a while`, LIMIT, async (context) => {
    let now = 0;
    const service = await startService(context, () => ({ status: Number(status) }));
    const cache = cacheFor(service.url);
    context.mock.method(performance, 'now', () => now);
    for (let number = 0; number < 500; number += 1) {
      cache.find(`s${number}`);
    }
    await cache.settle();
    const { length } = service.requests;
    assert.ok(length <= 8, 'what waited for a request is not asked for');
    now = pauseMs - 1;
    cache.find('s');
    await cache.settle();
    assert.equal(service.requests.length, length);
    now = pauseMs;
    cache.find('s');
    await cache.settle();
    assert.equal(service.requests.length, length + 1);
  });
}

test('a service that is away is no error of the product', LIMIT, async () => {
  const cache = cacheFor(await closedUrl());
  assert.equal(cache.find('s').state, 'unknown');
  await cache.settle();
});
