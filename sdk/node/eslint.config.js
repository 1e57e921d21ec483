import js from '@eslint/js';
import globals from 'globals';

export default [
  { ignores: ['types/', 'protocol/'] },
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2025, sourceType: 'module', globals: globals.nodeBuiltin },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      complexity: ['error', 10],
      eqeqeq: 'error',
      'max-lines': ['error', 300],
      'max-lines-per-function': ['error', 35],
      'max-params': ['error', 6],
      'no-var': 'error',
      'prefer-const': 'error',
    },
  },
  // The test of a subject is one long `describe`.
  { files: ['test/**'], rules: { 'max-lines-per-function': 'off' } },
];
