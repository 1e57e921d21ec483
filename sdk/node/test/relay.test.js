/** The relay checks, forwards and rewrites as the vectors say. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { HttpResponse } from '../src/http/client.js';
import { isHandle, readAnswer, rewriteUrls } from '../src/relay.js';
import { RelayError, readRelayBody } from '../src/relay_body.js';
import { cases } from './vectors.js';

/** Return what a function returns, or the relay's error. */
function outcomeOf(run) {
  try {
    return run();
  } catch (error) {
    assert.ok(error instanceof RelayError, error);
    return { status: error.status, code: error.content.code };
  }
}

const READERS = {
  handle: ({ handle }) => isHandle(handle),
  content: ({ content, mount }) => rewriteUrls(content, mount),
  body: ({ path, body }) =>
    outcomeOf(() => ({ forwarded: JSON.parse(readRelayBody(path, new TextEncoder().encode(body))) })),
  answer: ({ answer: { status, body } }) =>
    outcomeOf(() => ({ status, body: readAnswer(new HttpResponse(status, body)) })),
};

for (const { name, input, expected } of cases('relay')) {
  test(name, () => {
    const kind = Object.keys(READERS).find((member) => member in input);
    assert.deepEqual(READERS[kind](input), expected);
  });
}
