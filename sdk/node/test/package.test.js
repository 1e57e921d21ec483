import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { generateTypes } from '../scripts/types.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const MANIFEST = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const COMPILER = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
/** What some module is imported for alone, where it is installed: the official SDK of MCP. */
const EXTRAS = { 'cli/mcp_server.js': '@modelcontextprotocol/sdk' };
const KEY = `af_live_${'0123456789abcdef'.repeat(2)}_conformance_secret_0123456789abcdef`;

const PRODUCT = readFileSync(join(ROOT, 'test', 'programs', 'product.ts'), 'utf8');

let folder;

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'package-'));
});
after(() => rmSync(folder, { recursive: true }));

/** Return the paths of a folder's files and their texts. */
function readFolder(path) {
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files
      .map(({ parentPath, name }) => join(parentPath, name))
      .sort()
      .map((file) => [relative(path, file), readFileSync(file, 'utf8')]),
  );
}

describe('the package', () => {
  it('has the declarations of its sources', () => {
    const types = join(folder, 'types');
    generateTypes(types);
    assert.deepEqual(readFolder(join(ROOT, 'types')), readFolder(types), 'run `npm run types`');
  });

  it('depends on nothing', () => {
    assert.equal(MANIFEST.dependencies, undefined);
    const pattern = /from '([^'.#][^']*)'|import\('([^'.#][^']*)'\)/g;
    for (const [file, text] of Object.entries(readFolder(join(ROOT, 'src')))) {
      const code = text.replace(/\/\*\*.*?\*\//gs, '');
      for (const [, name, lazyName] of code.matchAll(pattern)) {
        const isExtra = EXTRAS[file] !== undefined && (name ?? lazyName).startsWith(EXTRAS[file]);
        assert.ok(isExtra || /^node:/.test(name ?? lazyName), `${file}: ${name ?? lazyName}`);
      }
    }
  });

  it('has a test for every file of vectors', () => {
    const { files } = JSON.parse(readFileSync(join(ROOT, 'protocol', 'vectors', 'index.json'), 'utf8'));
    for (const { subject } of files) {
      const test = readFileSync(join(ROOT, 'test', `${subject}.test.js`), 'utf8');
      assert.match(test, new RegExp(`\\bcases\\('${subject}'\\)`), subject);
    }
  });

  it('is loaded by import and by require', async () => {
    const require = createRequire(import.meta.url);
    assert.equal(require('agent-feedback').AgentFeedback, (await import('agent-feedback')).AgentFeedback);
  });

  it('loads without any module of Node where the platform has none', () => {
    const code = `
      const { AgentFeedback } = await import('agent-feedback');
      const feedback = new AgentFeedback({ apiKey: '${KEY}', endpoint: 'http://127.0.0.1:1' });
      const handler = feedback.fetch(() => Response.json({ a: 1 }));
      const body = await (await handler(new Request('https://shop.example/orders/1'))).json();
      console.log(body._agentFeedback.state);
      process.exit(0);
    `;
    const file = join(folder, 'worker.mjs');
    mkdirSync(join(folder, 'node_modules'), { recursive: true });
    symlinkSync(ROOT, join(folder, 'node_modules', 'agent-feedback'));
    writeFileSync(file, code);
    // The condition of bundlers for workers takes the place of Node's own.
    const hooks = join(folder, 'hooks.mjs');
    writeFileSync(
      hooks,
      `export function resolve(specifier, context, next) {
        if (/^node:/.test(specifier)) throw new Error('there is no ' + specifier);
        const conditions = context.conditions.filter((condition) => !condition.startsWith('node'));
        return next(specifier, { ...context, conditions });
      }`,
    );
    const register = `data:text/javascript,import{register}from'node:module';register('file://${hooks}')`;
    const output = execFileSync(process.execPath, ['--import', register, file], { encoding: 'utf8' });
    assert.equal(output, 'feedback_ready\n');
  });

  for (const [module, moduleResolution] of [
    ['esnext', 'bundler'],
    ['node16', 'node16'],
  ]) {
    it(`compiles in a TypeScript project with moduleResolution ${moduleResolution}`, () => {
      const project = mkdtempSync(join(folder, 'project-'));
      mkdirSync(join(project, 'node_modules'));
      symlinkSync(ROOT, join(project, 'node_modules', 'agent-feedback'));
      writeFileSync(join(project, 'package.json'), '{"type":"module"}');
      writeFileSync(join(project, 'product.ts'), PRODUCT);
      const compilerOptions = {
        module,
        moduleResolution,
        target: 'es2023',
        lib: ['es2023', 'dom', 'dom.iterable'],
        strict: true,
        noEmit: true,
        types: [],
      };
      writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['product.ts'] }));
      execFileSync(process.execPath, [COMPILER, '-p', project], { stdio: 'pipe', encoding: 'utf8' });
    });
  }
});
