/** An agent's answer to a request for context is checked and built as the vectors say. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { InvalidOption } from '../src/errors.js';
import { ContextAction } from '../src/agent/index.js';
import { cases } from './vectors.js';

const URL_OF_RESPONSE = 'https://shop.example.com/products';

for (const { name, input, expected } of cases('answer')) {
  test(name, async () => {
    const bodies = [];
    const send = async (_url, _authorization, body) => {
      bodies.push(JSON.parse(JSON.stringify(body)));
      return { accepted: true };
    };
    const action = new ContextAction(input.action, input.responseUrl ?? URL_OF_RESPONSE, send);
    const answer = action.answer(input.items, { status: input.status });
    if (expected === null) {
      await assert.rejects(answer, InvalidOption);
    } else {
      assert.deepEqual(await answer, { accepted: true });
    }
    assert.deepEqual(bodies, expected === null ? [] : [expected]);
  });
}
