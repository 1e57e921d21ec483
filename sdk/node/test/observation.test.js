/** What is told of an HTTP request: the fixed list of members, cleaned. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { observe } from '../src/context/observation.js';

function observed({ clientIp = null, method = 'GET', ...headers } = {}) {
  return observe({ clientIp, method, header: (name) => headers[name] ?? null });
}

test('all members', () => {
  const headers = {
    'user-agent': ' ClaudeBot/1.0 ',
    'accept-language': 'en',
    referer: 'https://user:secret@shop.example:8443/path?query#fragment',
    'sec-ch-ua-platform': '"Linux"',
    'sec-ch-ua-mobile': '?0',
    cookie: 'secret',
  };
  assert.deepEqual(observed({ clientIp: '192.0.2.1', method: 'POST', ...headers }), {
    clientIp: '192.0.2.1',
    method: 'POST',
    userAgent: 'ClaudeBot/1.0',
    acceptLanguage: 'en',
    referrerOrigin: 'https://shop.example:8443',
    secChUaPlatform: '"Linux"',
    secChUaMobile: '?0',
  });
});

const ADDRESSES = {
  '192.0.2.1': '192.0.2.1',
  '2001:DB8::1': '2001:db8::1',
  '::ffff:192.0.2.1': '192.0.2.1',
  'fe80::1%eth0': 'fe80::1',
  '::1': '::1',
  '192.0.2.256': undefined,
  '192.0.2': undefined,
  '192.0.2.1.1': undefined,
  '192.0.2.1.': undefined,
  '192.0.2.1:80': undefined,
  '0x7f.1': undefined,
  localhost: undefined,
  '': undefined,
  '::x': undefined,
};

for (const [address, expected] of Object.entries(ADDRESSES)) {
  test(`the address ${address || 'nothing'}`, () => assert.equal(observed({ clientIp: address }).clientIp, expected));
}

const REFERRERS = {
  'http://shop.example/': 'http://shop.example',
  'https://shop.example:443/a': 'https://shop.example',
  'http://[2001:db8::1]:81/': 'http://[2001:db8::1]:81',
  'ftp://shop.example/': undefined,
  'javascript:alert(1)': undefined,
  '/path': undefined,
  'http://': undefined,
};

for (const [referrer, expected] of Object.entries(REFERRERS)) {
  test(`the referrer ${referrer}`, () => assert.equal(observed({ referer: referrer }).referrerOrigin, expected));
}

test('longer texts are cut in characters, malformed ones left out', () => {
  assert.equal([...observed({ 'user-agent': '\u{1f600}'.repeat(600) }).userAgent].length, 512);
  assert.deepEqual(
    Object.keys(observed({ 'user-agent': 'a\u0007b', 'accept-language': '', 'sec-ch-ua-mobile': '?2' })),
    ['method'],
  );
  assert.deepEqual(observed({ method: 'M-SEARCH' }), {});
});
