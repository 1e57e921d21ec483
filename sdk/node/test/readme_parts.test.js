/** The README's examples of customer context, MCP servers and agents are programs that work. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

import { inJson, startProduct } from './agent_pages.js';
import { COMPANY_KEY, PRODUCT_KEY } from './keys_of_tests.js';
import { closedUrl, startService } from './service.js';

const LIMIT = { timeout: 30_000 };
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BLOCKS = Array.from(
  readFileSync(join(ROOT, 'README.md'), 'utf8').matchAll(/^```js\n(.*?)^```$/gms),
  ([, code]) => code,
);

let folder;

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'readme-parts-'));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(ROOT, join(folder, 'node_modules', 'agent-feedback'));
  for (const name of ['express', '@modelcontextprotocol']) {
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  }
});
after(() => rmSync(folder, { recursive: true }));

/** Write the block with a text as a program, with other texts replaced, and return how it is started. */
function program(part, url, replacements = {}) {
  let code = BLOCKS.find((block) => block.includes(part));
  for (const [text, other] of Object.entries(replacements)) {
    assert.ok(code.includes(text), text);
    code = code.replaceAll(text, other);
  }
  const file = join(folder, `${part.replace(/\W/g, '')}.mjs`);
  writeFileSync(file, code);
  const keys = { AGENT_FEEDBACK_KEY: PRODUCT_KEY, AGENT_FEEDBACK_COMPANY_KEY: COMPANY_KEY, AGENT_FEEDBACK_URL: url };
  return { command: process.execPath, args: [file], env: { PATH: process.env.PATH, ...keys } };
}

test('customer context', LIMIT, async (context) => {
  const submit = { url: 'https://feedback.example.com/api/v2/enrichment/answers' };
  const item = { signalId: 's1', key: 'shopping.priority', value: 'price', allowedUses: ['product_personalization'] };
  const service = await startService(context, ({ path, body }) => {
    if (path.endsWith('/customer-context')) {
      return { body: { retrievalId: 'r1', items: body.interactionId ? [item] : [] } };
    }
    return path.endsWith('/enrichment/requests') ? { body: { state: 'answer_ready', submit } } : { status: 202 };
  });
  const { port } = new URL(await closedUrl());
  const { command, args, env } = program("'/shoes'", service.url, { 3000: port });
  const product = spawn(command, args, { env, stdio: 'inherit' });
  try {
    const url = `http://localhost:${port}/shoes`;
    const first = await fetchSoon(url);
    const body = await first.json();
    assert.equal(body._service.customerContext.submit.url, '/_service/v1/enrichment/answers');
    const name = 'Service-Context-Interaction';
    const second = await (await fetch(url, { headers: { [name]: first.headers.get(name) } })).json();
    assert.deepEqual(
      [body, second].map(({ shoes }) => shoes[0].name),
      ['boots', 'sneakers'],
    );
  } finally {
    product.kill();
    await once(product, 'close');
  }
});

test('an MCP server', LIMIT, async (context) => {
  const service = await startService(context, () => ({ status: 202 }));
  const client = new Client({ name: 'tester', version: '1.0' });
  await client.connect(new StdioClientTransport(program('McpServer', service.url)));
  const { structuredContent } = await client.callTool({ name: 'list_shoes', arguments: {} });
  assert.equal(structuredContent.result, 'boots, sneakers');
  assert.equal(structuredContent._agentFeedback.state, 'feedback_ready');
  await client.close();
});

test('an agent', LIMIT, async (context) => {
  const product = await startProduct(context, inJson());
  const replacements = { 'http://localhost:3000/orders/42': product.page, 'https://feedback.example.com': product.url };
  const { command, args, env } = program('fetchPage', product.url, replacements);
  const [status] = await once(spawn(command, args, { env, stdio: 'inherit' }), 'close');
  assert.equal(status, 0);
  assert.equal(product.calls()[0].body.outcome, 'success');
});

/** Fetch from a program as soon as it listens. */
async function fetchSoon(url) {
  for (;;) {
    try {
      return await fetch(url);
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
