/** The command line: its words, its exit codes, and what it sends. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { contract } from '../src/protocol.js';
import { NOTE, envelopeOf, inJson, introspection, startProduct } from './agent_pages.js';
import { allowed, command } from './command.js';
import { closedUrl } from './service.js';

const LIMIT = { timeout: 20_000 };
const MAIN = fileURLToPath(new URL('../src/cli/main.js', import.meta.url));
const USAGES = {
  nothing: [[], /usage: agent-feedback \[-h\] \[--version\] COMMAND \.\.\./],
  'a group': [['agent'], /serve these commands as tools of the Model Context Protocol/],
  'an unknown command': [['nope'], /invalid choice: 'nope' \(choose from 'agent', 'doctor'\)/],
  'no URL': [['agent', 'show'], /the following arguments are required: URL/],
  'two URLs': [['agent', 'show', 'a', 'b'], /unrecognized arguments: b/],
  'an unknown option': [['doctor', 'a', '--force'], /unrecognized arguments: --force/],
  'a value for a switch': [['doctor', 'a', '--json=1'], /unrecognized arguments: --json=1/],
  'no value': [['agent', 'report', 'a', '--note'], /argument --note: expected one argument/],
  'two values': [['agent', 'report', 'a', '--finding', 'gap', 'docs'], /argument --finding: expected 3 arguments/],
  'another choice': [['agent', 'report', 'a', '--outcome', 'great'], /invalid choice: 'great' \(choose from 'success'/],
  'no number': [['agent', 'report', 'a', '--confidence', 'x'], /invalid float value: 'x'/],
  both: [['agent', 'ask', 'a', '--approve', '--decline'], /argument --decline: not allowed with argument --approve/],
  'an unsafe URL': [['agent', 'show', 'http://shop.example/'], /an https URL without credentials is needed/],
  'no URL at all': [['agent', 'show', 'shop'], /the URL is malformed/],
  'a header without a value': [['agent', 'show', 'http://127.0.0.1:9', '-HX'], /--header: 'NAME: VALUE' is needed/],
  'no origin': [['agent', 'mcp', '--allow-origin', 'x'], /the URL is malformed/],
  'neither kind': [['agent', 'report', 'http://127.0.0.1:9'], /either a review .* or a report .* is needed/],
  'half a review': [['agent', 'report', 'http://127.0.0.1:9', '--note', 'x'], /a review needs --outcome and --note/],
  'no such file': [['agent', 'report', 'http://127.0.0.1:9', '--file', '/nope'], /--file: No such file/],
  'standard input twice': [['agent', 'report', '-', '--file', '-'], /only one of URL and --file/],
};

for (const [name, [words, message]] of Object.entries(USAGES)) {
  test(`wrong usage is told in words: ${name}`, LIMIT, async () => {
    const { code, output, errors } = await command(words);
    assert.deepEqual([code, output], [2, '']);
    assert.match(errors, message);
    assert.doesNotMatch(errors, /\n {4}at /);
  });
}

for (const words of [
  ['--help'],
  ['agent', '-h'],
  ['agent', 'show', '--help'],
  ['agent', 'report', '-h'],
  ['doctor', '-h'],
  ['agent', 'mcp', '-h'],
]) {
  test(`help: ${words.join(' ')}`, async () => {
    const { code, output } = await command(words);
    assert.equal(code, 0);
    assert.match(output, /^usage: agent-feedback/);
    assert.ok(output.split('\n').every((line) => line.length <= 120));
  });
}

test('show tells what is requested, and sends nothing but an introspection', LIMIT, async (context) => {
  const product = await startProduct(context, inJson(), { introspect: () => introspection('feedback_ready') });
  const { code, output } = await command(allowed(product, 'agent', 'show', product.page));
  assert.equal(code, 0);
  for (const part of [
    'answered 200',
    'envelope:    in the JSON',
    'state:       feedback_ready',
    'product:     Shop',
    '--outcome success|partial|failure',
  ]) {
    assert.ok(output.includes(part), `${part} in ${output}`);
  }
  assert.doesNotMatch(output, /afr2_/);
  assert.deepEqual(
    product.calls().map(({ path }) => path),
    [contract.paths.introspect],
  );
});

test('show without permission asks no service', LIMIT, async (context) => {
  const product = await startProduct(context, inJson());
  const { code, output } = await command(['agent', 'show', product.page]);
  assert.equal(code, 0);
  assert.match(output, /was not asked; --allow-origin/);
  assert.deepEqual(product.calls(), []);
});

test('show as JSON hides the credentials', LIMIT, async (context) => {
  const product = await startProduct(context, inJson('ask_always'));
  const { output } = await command(['agent', 'show', '--json', product.page]);
  const { place, state, question, envelope, why } = JSON.parse(output);
  assert.deepEqual([place, state, why], ['json', 'consent_required', []]);
  assert.match(question, /^May I send/);
  assert.match(envelope.requiredAction.submitDecision.authorization, /^Bearer afr2_[0-9a-f]{32}…$/);
});

const WHY = {
  status: [{ status: 404 }, /status: {6}the status is 404/],
  type: [{ headers: { 'Content-Type': 'text/plain' } }, /its type is text\/plain; only JSON and HTML carry one/],
  charset: [
    { headers: { 'Content-Type': 'application/json; charset=utf-16' } },
    /the only parameter may be a charset of utf-8/,
  ],
  cache: [{ headers: { 'Cache-Control': 'public' } }, /shared caches may store it \(Cache-Control: public\)/],
  encoding: [{ headers: { 'Content-Encoding': 'br' } }, /it is compressed \(br\)/],
  range: [{ headers: { 'Content-Range': 'bytes 0-1/2' } }, /it is a part of a resource/],
  body: [{ body: '{', headers: { 'Content-Length': '1' } }, /its body is no JSON/],
  stream: [{ headers: { 'Transfer-Encoding': 'chunked' } }, /it is a stream without a Content-Length/],
  nothing: [{ headers: { 'Content-Length': '2' } }, /either the product has no SDK, or its mode is off/],
};

for (const [name, [answer, sentence]] of Object.entries(WHY)) {
  test(`show --why: ${name}`, LIMIT, async (context) => {
    const product = await startProduct(context, () => answer);
    const { code, output } = await command(['agent', 'show', '--why', product.page]);
    assert.equal(code, 4);
    assert.match(output, sentence);
  });
}

test('a response from standard input', LIMIT, async (context) => {
  const product = await startProduct(context, inJson());
  const input = JSON.stringify(inJson()(product.url).body);
  const words = ['agent', 'report', '-', '--yes', '--outcome', 'success', '--note', NOTE];
  assert.equal((await command(allowed(product, ...words), { input })).code, 0);
  assert.deepEqual(product.calls()[0].body, { outcome: 'success', note: NOTE });
});

test('a review is shown, and sent after a yes', LIMIT, async (context) => {
  const product = await startProduct(context, inJson());
  const words = allowed(product, 'agent', 'report', product.page, '--outcome=success', '--note', NOTE);
  const refused = await command(words, { answers: '\n' });
  assert.deepEqual([refused.code, product.calls()], [5, []]);
  assert.match(refused.output, new RegExp(NOTE));
  const nobody = await command(words);
  assert.equal(nobody.code, 2);
  assert.match(nobody.errors, /nobody can be asked here; --yes sends it/);
  const sent = await command(words, { answers: 'y\n' });
  assert.deepEqual([sent.code, product.calls().length], [0, 1]);
  assert.match(sent.output, /accepted, for the interaction i1/);
});

test('a report from words, and from a file', LIMIT, async (context) => {
  const product = await startProduct(context, inJson());
  const report = {
    summary: NOTE,
    impact: 'helped',
    confidence: 0.5,
    findings: [{ kind: 'gap', topic: 'docs', detail: 'None.', severity: 'minor' }],
    workaround: { used: true, detail: 'Tried again.' },
  };
  const words = [
    '--summary',
    NOTE,
    '--impact',
    'helped',
    '--confidence',
    '.5',
    '--finding',
    'gap:minor',
    'docs',
    'None.',
    '--workaround',
    'Tried again.',
  ];
  const before = allowed(product, 'agent', 'report', product.page, '-y');
  assert.equal((await command([...before, ...words])).code, 0);
  const file = join(tmpdir(), `report-${process.pid}.json`);
  await writeFile(file, JSON.stringify(report));
  assert.equal((await command([...before, '--file', file])).code, 0);
  assert.equal((await command([...before, '--file', '-'], { input: JSON.stringify(report) })).code, 0);
  assert.deepEqual(
    product.calls().map(({ body }) => body),
    [report, report, report],
  );
  assert.equal((await command([...before, '--file', '-'], { input: '[]' })).code, 2);
});

test('a preview stores nothing', LIMIT, async (context) => {
  const review = { outcome: 'success', note: NOTE };
  const product = await startProduct(context, inJson(), {
    outcomesPreview: () => ({ body: { wouldBeStored: true, review } }),
  });
  const words = allowed(product, 'agent', 'report', product.page, '--preview', '--outcome', 'success', '--note', NOTE);
  const { code, output } = await command(words);
  assert.equal(code, 0);
  assert.match(output, /The service would store:[^]*Nothing is stored\./);
  assert.deepEqual(
    product.calls().map(({ path }) => path),
    [contract.paths.outcomesPreview],
  );
});

test('a question is answered by options, by a person, or not at all', LIMIT, async (context) => {
  const answers = {
    introspect: () => introspection('consent_required'),
    decisions: ({ body }) => ({ body: { state: body.decision, changed: true } }),
  };
  const product = await startProduct(context, inJson('ask_once_unknown'), answers);
  const words = allowed(product, 'agent', 'ask', product.page);
  const decisions = () =>
    product
      .calls()
      .filter(({ path }) => path === contract.paths.decisions)
      .map(({ body }) => body.decision);
  assert.equal((await command([...words, '--decline'])).code, 0);
  const asked = await command(words, { answers: 'y\n' });
  assert.equal(asked.code, 0);
  assert.match(asked.errors, /May I\? \[y\/n\]/);
  assert.deepEqual(decisions(), ['declined', 'approved']);
  assert.equal((await command(words, { answers: 'perhaps\n' })).code, 5);
  assert.equal((await command(words)).code, 2);
  assert.equal(decisions().length, 2);
});

test('a report in consent_required is sent after an approval', LIMIT, async (context) => {
  const answers = {
    introspect: () => introspection('consent_required'),
    decisions: () => ({ body: { state: 'feedback_ready', feedback: envelopeOf(product.url) } }),
  };
  const product = await startProduct(context, inJson('ask_always'), answers);
  const words = allowed(product, 'agent', 'report', product.page, '--outcome', 'success', '--note', NOTE);
  assert.equal((await command([...words, '--yes'])).code, 2);
  assert.equal((await command(words, { answers: 'n\n' })).code, 5);
  assert.equal((await command(words, { answers: 'y\ny\n' })).code, 0);
  assert.equal((await command([...words, '--approve', '--yes', '--json'])).code, 0);
  assert.equal(product.calls().filter(({ path }) => path === contract.paths.outcomes).length, 2);
});

test('a service is allowed by a person', LIMIT, async (context) => {
  const product = await startProduct(context, inJson());
  const words = ['agent', 'report', product.page, '--yes', '--outcome', 'success', '--note', NOTE];
  assert.equal((await command(words)).code, 2);
  assert.equal((await command(words, { answers: 'yes\n' })).code, 0);
});

test('a refusal and an outage have codes of their own', LIMIT, async (context) => {
  const product = await startProduct(context, inJson(), {
    outcomes: () => ({ status: 403, body: { code: 'consent_missing', error: 'No.' } }),
  });
  const words = allowed(product, 'agent', 'report', product.page, '--yes', '--outcome', 'success', '--note', NOTE);
  const refused = await command(words);
  assert.equal(refused.code, 1);
  assert.match(refused.errors, /the service refused it: 403 consent_missing: No\./);
  const away = await command(['agent', 'show', await closedUrl()]);
  assert.equal(away.code, 3);
  assert.match(away.errors, /could not be reached: nothing listens there/);
  const plain = await startProduct(context, () => ({}));
  assert.equal((await command(['agent', 'report', plain.page, '--summary', NOTE])).code, 4);
});

test('the program ends with the code of its command', LIMIT, async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, '--version']);
  assert.match(stdout, /^agent-feedback [0-9]/);
  const failed = promisify(execFile)(process.execPath, [MAIN, 'nope']);
  await assert.rejects(failed, { code: 2 });
});
