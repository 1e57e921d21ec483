/** Requests for context by the product's code, kept for the response of the request that they belong to. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ContextActions } from '../src/context/actions.js';
import { CustomerContext } from '../src/context/index.js';
import { CompanyKey } from '../src/keys.js';
import { COMPANY_KEY } from './keys_of_tests.js';

const REQUEST = { purpose: 'product_personalization', userRef: 'user_42' };

test('an operation that the service would refuse falls back to the path', () => {
  const client = new CustomerContext({ companyKey: COMPANY_KEY, endpoint: 'http://127.0.0.1:9' });
  const actions = new ContextActions(new CompanyKey(COMPANY_KEY), client);
  const request = { headers: {} };
  const slot = actions.addSlot([request], { method: 'GET', path: '/shoes', mount: '', header: () => null });
  client.ask(request, { ...REQUEST, operation: 'a b' });
  assert.equal(actions.findPending(slot, '/shoes').operation, '/shoes');
  client.ask(request, { ...REQUEST, operation: 'shoes' });
  assert.equal(actions.findPending(slot, '/shoes').operation, 'shoes');
});
