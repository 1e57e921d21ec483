/** The agent's side: what a response holds, and what may be sent for it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Received, discover, fetchPage, fromResponse } from '../src/agent/index.js';
import { findTarget } from '../src/agent/discovery.js';
import { readScripts } from '../src/agent/html_members.js';
import { NOTE, envelopeOf, inJson, introspection, startProduct } from './agent_pages.js';

const LIMIT = { timeout: 15_000 };
const ENDPOINT = 'https://feedback.example.com';
const ENVELOPE = envelopeOf(ENDPOINT);
const OPTIONS = { allowedOrigins: [ENDPOINT] };
const JSON_TEXT = JSON.stringify({ a: 1, _agentFeedback: ENVELOPE });
const CONTEXT = { customerContext: { state: 'declined', submit: null } };
const HTML = `<p>a<script type="application/json" id="agent-feedback">${JSON.stringify(ENVELOPE)}</script>`;

function inHeader(envelope) {
  return { 'Agent-Feedback': Buffer.from(JSON.stringify(envelope)).toString('base64url') };
}

const RESPONSES = {
  'a response of fetch': [() => new Response(JSON_TEXT), 'json'],
  'a text': [() => JSON_TEXT, 'json'],
  'a parsed object': [() => JSON.parse(JSON_TEXT), 'json'],
  bytes: [() => new TextEncoder().encode(JSON_TEXT), 'json'],
  'a page': [() => HTML, 'html'],
  'a header': [() => new Response('[1]', { headers: inHeader(ENVELOPE) }), 'header'],
  'a header beside a member of the product': [
    () => new Response('{"_agentFeedback": {"v": 1}}', { headers: inHeader(ENVELOPE) }),
    'header',
  ],
};

for (const [name, [response, place]] of Object.entries(RESPONSES)) {
  test(`the envelope is found: ${name}`, async () => {
    const received = await fromResponse(response(), OPTIONS);
    assert.deepEqual([received.content, received.place, received.state], [ENVELOPE, place, 'feedback_ready']);
    assert.deepEqual([received.serviceOrigin, received.isAllowed], [ENDPOINT, true]);
  });
}

const NOTHING = {
  'an object': '{}',
  'a list': '[1]',
  'no JSON': '{',
  nothing: '',
  'another version': '{"_agentFeedback": {"v": 2}}',
  'a list as the member': '{"_agentFeedback": [1]}',
  'an element that is no JSON': '<script id="agent-feedback" type="application/json">{</script>',
};

for (const [name, text] of Object.entries(NOTHING)) {
  test(`there is no envelope: ${name}`, async () => assert.equal(await fromResponse(text, OPTIONS), null));
}

test('a response of fetch can be read afterwards, but not before', async () => {
  const response = new Response(JSON_TEXT);
  await fromResponse(response, OPTIONS);
  assert.equal((await response.json()).a, 1);
  await assert.rejects(fromResponse(response, OPTIONS), /read already/);
});

test('a context action alone is received, with the headers of the retry', async () => {
  const headers = { 'Service-Context-Interaction': 'id' };
  const received = await fromResponse(new Response(JSON.stringify({ _service: CONTEXT }), { headers }), OPTIONS);
  assert.deepEqual([received.state, received.place, received.context.state], ['not_requested', null, 'declined']);
  assert.deepEqual(received.retryHeaders, headers);
  await assert.rejects(received.submitOutcome('success', NOTE), { name: 'InvalidOption' });
});

const PAGES = {
  'other quotes and case': ["<SCRIPT ID='a' Type='application/json'>1</SCRIPT>", '1'],
  'without quotes': ['<script id=a type=application/json>1</script>', '1'],
  'in a comment': [
    '<!-- <script id="a" type="application/json">0</script> --><script id="a" type="application/json">1</script>',
    '1',
  ],
  'in an attribute': [
    '<p title=\'<script id="a" type="application/json">0</script>\'><script id="a" type="application/json">1</script>',
    '1',
  ],
  'in raw text': ['<textarea><script id="a" type="application/json">0</script></textarea>', undefined],
  'the first one': [
    '<script id="a" type="application/json">1</script><script id="a" type="application/json">2</script>',
    '1',
  ],
  'another type': ['<script id="a" type="text/javascript">1</script>', undefined],
  'another element': ['<div id="a" type="application/json">1</div>', undefined],
  'without an end': ['<script id="a" type="application/json">1', undefined],
  'a tag without an end': ['<script id="a', undefined],
  'signs that begin nothing': ['1 < 2 <> </ <script id="a" type="application/json">1</script>', '1'],
};

for (const [name, [html, expected]] of Object.entries(PAGES)) {
  test(`a script element: ${name}`, () => assert.equal(readScripts(html, 'application/json').get('a'), expected));
}

test('a large hostile page is read in time', LIMIT, () => {
  for (const part of ['<script ', '<a b="', "<a b='c' ", '<!--', '<textarea>', '<a =']) {
    readScripts(part.repeat(200_000), 'application/json');
  }
});

test('a review, its preview and a report go where the envelope says', LIMIT, async (context) => {
  const product = await startProduct(context, inJson());
  const received = await fromResponse(await fetchPage(product.page), { allowedOrigins: [product.url] });
  assert.deepEqual(await received.submitOutcome('success', `  ${NOTE} `), { accepted: true, interactionId: 'i1' });
  await received.previewOutcome('success', NOTE);
  await received.submitReport({ summary: NOTE, findings: [{ kind: 'gap', topic: 'docs', detail: ' a  gap ' }] });
  await received.previewReport({ summary: NOTE });
  assert.deepEqual(
    product.calls().map(({ path, body }) => [path, body]),
    [
      ['/api/v2/outcomes', { outcome: 'success', note: NOTE }],
      ['/api/v2/outcomes/preview', { outcome: 'success', note: NOTE }],
      ['/api/v2/reports', { summary: NOTE, findings: [{ kind: 'gap', topic: 'docs', detail: 'a gap' }] }],
      ['/api/v2/reports/preview', { summary: NOTE }],
    ],
  );
});

test('all problems are told at once, and nothing is sent', LIMIT, async (context) => {
  const product = await startProduct(context, inJson());
  const received = await fromResponse(await fetchPage(product.page), { allowedOrigins: [product.url] });
  const report = {
    summary: 'short',
    impact: 'great',
    confidence: 2,
    findings: [{ kind: 'gap' }],
    workaround: {},
    prompt: 'x',
  };
  await assert.rejects(received.submitReport(report), ({ message }) => {
    assert.deepEqual(message.split('; there are ')[0], 'there is no prompt');
    for (const part of [
      'summary must have',
      'impact must be',
      'confidence must be',
      'findings[0].topic',
      'workaround.used',
    ]) {
      assert.ok(message.includes(part), part);
    }
    return true;
  });
  await assert.rejects(received.submitOutcome('great', NOTE), /outcome must be one of/);
  await assert.rejects(received.submitOutcome('success', '\u{1f600}'.repeat(7)), /note must have 8 to 500 characters/);
  assert.deepEqual(product.calls(), []);
});

test('an approval brings the actions, after an introspection', LIMIT, async (context) => {
  const answers = {
    introspect: () => introspection('consent_required'),
    decisions: () => ({ body: { state: 'feedback_ready', feedback: envelopeOf(product.url) } }),
  };
  const product = await startProduct(context, inJson('ask_always'), answers);
  const received = await fromResponse(await fetchPage(product.page), { allowedOrigins: [product.url] });
  await received.introspect();
  assert.equal(received.question, 'May I?', 'the words of the service');
  await received.decide('approved');
  assert.deepEqual([received.state, received.question], ['feedback_ready', null]);
  await received.submitOutcome('success', NOTE);
});

test('where the service says that it is decided, no decision is sent', LIMIT, async (context) => {
  let state = 'declined';
  const submit = { ...envelopeOf('x').submit };
  const answers = {
    introspect: () => introspection(state, { submit: { ...submit, url: `${product.url}/api/v2/reports` } }),
  };
  const product = await startProduct(context, inJson('ask_once_unknown'), answers);
  const received = async () => fromResponse(await fetchPage(product.page), { allowedOrigins: [product.url] });
  const declined = await received();
  await assert.rejects(declined.decide('approved'), /no question stands: the service says declined/);
  assert.equal(declined.state, 'feedback_disabled');
  state = 'feedback_ready';
  const ready = await received();
  await ready.introspect();
  await ready.submitOutcome('success', NOTE);
  assert.deepEqual(
    product.calls().map(({ path }) => path.split('/').at(-1)),
    ['introspect', 'introspect', 'outcomes'],
  );
});

test('a standing choice is changed where the user asks for it', LIMIT, async (context) => {
  const answers = { introspect: () => introspection('declined'), decisions: () => ({ body: { state: 'declined' } }) };
  const product = await startProduct(context, inJson('ask_once_approved'), answers);
  const received = await fromResponse(await fetchPage(product.page), { allowedOrigins: [product.url] });
  await received.decide('declined');
  assert.deepEqual(product.calls().at(-1).body, { decision: 'declined' });
  await assert.rejects(received.submitOutcome('success', NOTE), /nothing may be submitted/);
});

test('other origins get nothing until they are allowed', LIMIT, async (context) => {
  const product = await startProduct(context, inJson());
  const received = await fromResponse(await fetchPage(product.page), { allowedOrigins: [] });
  await assert.rejects(received.submitOutcome('success', NOTE), /is not an allowed origin/);
  received.allow(product.url);
  await received.submitOutcome('success', '\u{1f600}'.repeat(500));
  assert.throws(() => new Received({ envelope: ENVELOPE, allowedOrigins: ENDPOINT }), /list of origins/);
});

test('a signal ends a call, also between its tries', LIMIT, async (context) => {
  const product = await startProduct(context, inJson(), { outcomes: () => ({ status: 500 }) });
  const received = await fromResponse(await fetchPage(product.page), { allowedOrigins: [product.url] });
  const signal = AbortSignal.timeout(100);
  await assert.rejects(received.submitOutcome('success', NOTE, { signal }), { name: 'TimeoutError' });
  assert.equal(product.calls().length, 1);
});

test('a link to another origin is not followed', () => {
  const link = (target) => `<${target}>; rel="agent-feedback"; request-header="Agent-Feedback-Request: 1"`;
  const targets = [
    '/a?b',
    'https://shop.example/a',
    'https://other.example/a',
    '//other.example/a',
    '/\\other.example',
    'http://[',
  ];
  assert.deepEqual(
    targets.map((target) => findTarget(link(target), 'https://shop.example/page')),
    ['https://shop.example/a?b', 'https://shop.example/a', null, null, null, null],
  );
  assert.equal(
    findTarget('</a>; rel="next"; request-header="Agent-Feedback-Request: 1"', 'https://shop.example/'),
    null,
  );
  assert.equal(findTarget('</a>; rel="agent-feedback"; request-header="Cookie: 1"', 'https://shop.example/'), null);
});

test('a link is followed once, with the headers of the request', LIMIT, async (context) => {
  const link = '</page?a=1>; rel="agent-feedback"; request-header="Agent-Feedback-Request: 1"';
  const product = await startProduct(context, (endpoint, { headers }) =>
    headers['agent-feedback-request'] ? inJson()(endpoint) : { headers: { Link: link } },
  );
  const options = { allowedOrigins: [product.url] };
  const page = await fetchPage(product.page, { headers: { Authorization: 'Bearer a', Range: 'bytes=0-1' } });
  assert.equal((await discover(page, options)).state, 'feedback_ready');
  assert.equal(product.requests[1].headers.authorization, 'Bearer a');
  assert.equal(product.requests[1].headers.range, undefined);
  const headers = { Authorization: 'Bearer b' };
  assert.equal(
    (await discover(await fetch(product.page, { headers }), { ...options, headers })).state,
    'feedback_ready',
  );
  assert.equal(product.requests[3].headers.authorization, 'Bearer b');
  assert.equal(await discover(await fetch(product.page, { method: 'POST' }), { ...options, method: 'POST' }), null);
  assert.equal(product.requests.length, 5);
});
