import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { InvalidOption } from '../src/errors.js';
import { AgentFeedback } from '../src/index.js';
import { readKillSwitch, readOptions } from '../src/options.js';
import { contract } from '../src/protocol.js';

const apiKey = `af_live_${'0123456789abcdef'.repeat(2)}_conformance_secret_0123456789abcdef`;
const required = { apiKey, endpoint: 'https://feedback.example.com' };

describe('options', () => {
  afterEach(() => {
    for (const name of Object.keys(process.env).filter((variable) => variable.startsWith('AGENT_FEEDBACK_'))) {
      delete process.env[name];
    }
  });

  it('have the defaults of the protocol', () => {
    const { apiKey: key, endpoint, isEnabled, ...options } = readOptions(required);
    const defaults = Object.entries(contract.options).filter(([, rule]) => !rule.isRequired);
    assert.deepEqual(options, Object.fromEntries(defaults.map(([name, rule]) => [name, rule.default])));
    assert.deepEqual([key.reveal(), endpoint, isEnabled], [apiKey, required.endpoint, true]);
  });

  it('come from the environment, where arguments win', () => {
    Object.assign(process.env, { AGENT_FEEDBACK_KEY: ` ${apiKey}\n`, AGENT_FEEDBACK_URL: 'http://127.0.0.1:8000//' });
    process.env.AGENT_FEEDBACK_MODE = 'ask_once';
    assert.equal(readOptions().apiKey.reveal(), apiKey);
    assert.equal(readOptions().endpoint, 'http://127.0.0.1:8000');
    assert.equal(readOptions().mode, 'ask_once');
    assert.equal(readOptions({ mode: 'off', endpoint: undefined }).mode, 'off');
  });

  for (const value of contract.killSwitch.off) {
    it(`are switched off by ${value}`, () => {
      process.env[contract.killSwitch.environment] = ` ${value.toUpperCase()} `;
      assert.equal(readKillSwitch(), false);
    });
  }

  it('are not needed where the kill switch is on, and all passes through', async () => {
    process.env[contract.killSwitch.environment] = 'false';
    const feedback = new AgentFeedback();
    const listener = () => {};
    assert.equal(feedback.http(listener), listener);
    const response = new Response('{}', { headers: { 'Content-Type': 'application/json' } });
    assert.equal(await feedback.fetch(() => response)(new Request('https://a.example/')), response);
    const interaction = feedback.start('a', { customerRef: 'account_42' });
    assert.deepEqual([interaction.envelope(), interaction.encodedEnvelope()], [null, null]);
    interaction.finish();
    assert.equal((await feedback.customerContext.context({ purpose: 'a', userRef: 'b' })).isEmpty, true);
    assert.equal(await feedback.shutdown(), 0);
    assert.throws(() => new AgentFeedback({ apiKey: 'af_live_short' }), InvalidOption);
  });

  const endpoints = [
    'https://a.example/b/c',
    'https://a.example:8443',
    'http://localhost',
    'http://[::1]:9',
    'HTTPS://A',
  ];
  for (const endpoint of endpoints) {
    it(`take the endpoint ${endpoint}`, () => assert.equal(readOptions({ apiKey, endpoint }).endpoint, endpoint));
  }

  const malformed = {
    apiKey: ['', 'af_live_short', `${apiKey}é`, 7, null],
    companyKey: ['af_read_x', 7],
    endpoint: [
      '',
      'http://a.example',
      'https://',
      'ftp://a.example',
      'https://u:p@a.example',
      'https://a.example?b',
      'https://a.example/#b',
      'https://a.example:0',
      'https://a.example:99999',
      'https://a b.example',
      'https://ä.example',
      'a.example',
      'http://localhost.evil.example',
      'http://localhost@evil.example',
    ],
    serviceName: [' ', 7],
    include: ['/**', ['a'], [7], {}],
    exclude: ['/a'],
    mode: ['always', 7, ''],
    cacheMode: ['public'],
    customerRef: ['a'],
    runtimeHint: ['agent', 7],
    shouldInstrument: [true],
    onDrop: [{}],
    flushInterval: [0, -1, Infinity, NaN, '500', true],
    maxQueueSize: [0, 1.5, '10'],
  };
  for (const [name, values] of Object.entries(malformed)) {
    for (const value of values) {
      it(`refuse ${name} ${JSON.stringify(value)}`, () => {
        const expected = (error) => error instanceof InvalidOption && error.message.startsWith(name);
        assert.throws(() => readOptions({ ...required, [name]: value }), expected);
      });
    }
  }

  for (const name of ['customerRef', 'shouldInstrument', 'onDrop']) {
    it(`refuse an async function as ${name}`, () => {
      const expected = (error) => error instanceof InvalidOption && error.message.includes('not async');
      assert.throws(() => readOptions({ ...required, [name]: async () => 'a' }), expected);
    });
  }

  it('refuse a name that is none, and say which there are', () => {
    assert.throws(
      () => readOptions({ ...required, customer: 'a' }),
      /customer: there is no such option; .*customerRef/,
    );
  });

  it('do not repeat a malformed key', () => {
    assert.throws(
      () => readOptions({ ...required, apiKey: 'af_live_hunter2' }),
      (error) => !/hunter2/.test(error.message),
    );
  });
});
