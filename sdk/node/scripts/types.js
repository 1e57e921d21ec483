/** Generates types/ from the JSDoc of src/. */

import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Write the declarations of all modules into a folder.
 * @param {string} folder
 */
export function generateTypes(folder) {
  rmSync(folder, { recursive: true, force: true });
  const compiler = fileURLToPath(new URL('../node_modules/typescript/bin/tsc', import.meta.url));
  const options = [
    '--noEmit',
    'false',
    '--declaration',
    '--emitDeclarationOnly',
    '--rootDir',
    'src',
    '--outDir',
    folder,
  ];
  execFileSync(process.execPath, [compiler, '-p', 'tsconfig.types.json', ...options], { cwd: root, stdio: 'inherit' });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  generateTypes(`${root}types`);
}
