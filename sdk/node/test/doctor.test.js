/** The doctor: what it says of a product, and that it files nothing. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { contract } from '../src/protocol.js';
import { inJson, introspection, startProduct } from './agent_pages.js';
import { VARIABLES, allowed, command } from './command.js';
import { PRODUCT_KEY } from './keys_of_tests.js';
import { closedUrl, startService } from './service.js';

const LIMIT = { timeout: 20_000 };

test('the doctor passes a product that is well', LIMIT, async (context) => {
  const product = await startProduct(context, inJson(), { introspect: () => introspection('feedback_ready') });
  const { code, output } = await command(allowed(product, 'doctor', product.page));
  assert.equal(code, 0, output);
  assert.deepEqual(
    output
      .trim()
      .split('\n')
      .map((line) => line.split(':')[0]),
    [
      'PASS  product',
      'PASS  envelope',
      'PASS  protocol',
      'PASS  cache',
      'PASS  capability',
      'PASS  mode',
      'NEXT  key',
      'NEXT  telemetry',
    ],
  );
  assert.deepEqual(
    product.calls().map(({ path }) => path),
    [contract.paths.introspect],
  );
});

test('the doctor sends no key to another service than the one that is allowed', LIMIT, async (context) => {
  const other = await startService(context);
  const answers = { introspect: () => introspection('feedback_ready') };
  const product = await startProduct(
    context,
    (endpoint) => {
      const page = inJson()(other.url);
      page.body[contract.members.envelope].submitOutcome.url = `${endpoint}/reviews`;
      return page;
    },
    answers,
  );
  Object.assign(process.env, { AGENT_FEEDBACK_KEY: PRODUCT_KEY, AGENT_FEEDBACK_READ_KEY: 'af_read_x' });
  context.after(() => VARIABLES.forEach((name) => delete process.env[name]));
  const { code, output } = await command(allowed(product, 'doctor', product.page));
  assert.deepEqual([code, other.requests], [1, []]);
  assert.match(output, /FAIL {2}service: .*no key was sent/);
});

test('the doctor checks the key and the telemetry with keys of its own', LIMIT, async (context) => {
  const interactions = [
    null,
    { occurredAt: null },
    { occurredAt: 'x', operation: '/page', surface: 'http_json', statusCode: 200 },
  ];
  const answers = {
    introspect: () => introspection('feedback_ready'),
    consentState: () => ({ body: { subjects: [] } }),
    other: () => {
      const interaction = interactions.shift();
      return interaction ? { body: { interaction } } : { status: 404 };
    },
  };
  const product = await startProduct(context, inJson(), answers);
  const settings = {
    AGENT_FEEDBACK_KEY: PRODUCT_KEY,
    AGENT_FEEDBACK_URL: product.url,
    AGENT_FEEDBACK_READ_KEY: 'af_read_x',
  };
  Object.assign(process.env, settings);
  context.after(() => VARIABLES.forEach((name) => delete process.env[name]));
  const { code, output } = await command(['doctor', product.page]);
  assert.equal(code, 0, output);
  assert.match(output, /PASS {2}key: {8}the product signs with AGENT_FEEDBACK_KEY/);
  assert.match(output, /PASS {2}key: {8}the service accepts AGENT_FEEDBACK_KEY/);
  assert.match(output, /PASS {2}telemetry: {2}that of this response has arrived: \/page, http_json, 200/);
  const [{ method, path, headers }] = product.calls().filter((request) => request.path.includes('/interactions/'));
  assert.deepEqual([method, path], ['GET', '/api/v2/interactions/018f4df7-3e00-4abc-9def-0123456789ab']);
  assert.equal(headers.authorization, 'Bearer af_read_x');
  process.env.AGENT_FEEDBACK_KEY = PRODUCT_KEY.replace('af_live_0', 'af_live_1');
  delete process.env.AGENT_FEEDBACK_READ_KEY;
  const other = await command(['doctor', product.page]);
  assert.equal(other.code, 1);
  assert.match(other.output, /FAIL {2}key: {8}the product signs with another key/);
});

test('the doctor names what is wrong', LIMIT, async (context) => {
  const answers = { introspect: () => introspection('feedback_ready', { configuredMode: 'off' }) };
  const changed = (endpoint) => ({ ...inJson('never_ask', { instruction: 'other', extra: 1 })(endpoint), headers: {} });
  const product = await startProduct(context, changed, answers);
  const { code, output } = await command(allowed(product, 'doctor', product.page));
  assert.equal(code, 1);
  assert.match(output, /FAIL {2}protocol: {3}.*instruction is not as the protocol has it/);
  assert.match(output, /extra is not of the protocol/);
  assert.match(output, /FAIL {2}cache: {6}Cache-Control is missing/);
  assert.match(output, /FAIL {2}mode: {7}the SDK has never_ask, the service off/);
  const plain = await startProduct(context, () => ({ status: 500 }));
  const none = await command(['doctor', '--json', plain.page]);
  assert.equal(none.code, 1);
  assert.deepEqual(
    JSON.parse(none.output)
      .map(({ status }) => status)
      .slice(0, 2),
    ['PASS', 'FAIL'],
  );
  assert.equal((await command(['doctor', await closedUrl()])).code, 1);
});

for (const name of Object.keys(contract.states)) {
  test(`the doctor takes the envelope of the protocol: ${name}`, LIMIT, async (context) => {
    const product = await startProduct(context, inJson(name));
    const { output } = await command(['doctor', product.page]);
    assert.match(output, /PASS {2}protocol/);
  });
}
