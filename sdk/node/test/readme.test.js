import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { KEY, close, listen, startService } from './recording_service.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const BLOCKS = Array.from(README.matchAll(/^```js\n(.*?)^```$/gms), ([, code]) => code);
const FRAMEWORKS = { express: 'express', fastify: 'fastify', 'node:http': null, hono: 'hono' };

let folder;
let service;

before(async () => {
  service = await startService();
  folder = mkdtempSync(join(tmpdir(), 'readme-'));
  mkdirSync(join(folder, 'node_modules', '@hono'), { recursive: true });
  symlinkSync(ROOT, join(folder, 'node_modules', 'agent-feedback'));
  for (const name of ['express', 'fastify', 'hono', '@hono/node-server', '@modelcontextprotocol']) {
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  }
});
after(async () => {
  rmSync(folder, { recursive: true });
  await service.close();
});

/** Start a block as a program of its own, on another port. */
function start(code, port = 3000) {
  const file = join(folder, `block-${port}.mjs`);
  writeFileSync(file, code.replaceAll('3000', String(port)));
  const env = { PATH: process.env.PATH, AGENT_FEEDBACK_KEY: KEY, AGENT_FEEDBACK_URL: service.url };
  return spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'inherit'] });
}

async function freePort() {
  const server = createServer();
  const url = await listen(server);
  await close(server);
  return Number(new URL(url).port);
}

/** Fetch from a program as soon as it listens. */
async function fetchSoon(url) {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    try {
      return await fetch(url);
    } catch {
      await setTimeout(50);
    }
  }
  throw new Error('the program does not listen');
}

describe('the README', () => {
  for (const name of Object.keys(FRAMEWORKS)) {
    it(`gets a product of ${name} going`, async () => {
      const code = BLOCKS.find((block) => block.includes(`from '${name}'`));
      const port = await freePort();
      const program = start(code, port);
      try {
        const body = await (await fetchSoon(`http://localhost:${port}/orders/42`)).json();
        assert.equal(body.id, '42');
        assert.equal(body._agentFeedback.state, 'feedback_ready');
      } finally {
        program.kill();
        await once(program, 'close');
      }
    });
  }

  it('has programs that run to their end', async () => {
    const others = BLOCKS.filter((code) => !code.includes('3000'));
    assert.ok(others.length >= 2);
    for (const code of others) {
      const program = start(code);
      program.stdout.resume();
      const [status] = await once(program, 'close');
      assert.equal(status, 0, code);
    }
    assert.deepEqual(
      service.events().map(({ operation }) => operation),
      ['checkout'],
    );
  });

  it('names every option', async () => {
    const { contract } = await import('../src/protocol.js');
    for (const name of Object.keys(contract.options)) {
      assert.ok(README.includes(`\`${name}\``), name);
    }
  });
});
