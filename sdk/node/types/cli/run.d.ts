/** The command `agent-feedback`. */
export type Command = import('./arguments.js').Command;
/**
 * Run a command and resolve to its exit code.
 *
 * @param {string[]} words
 * @param {import('./terminal.js').Terminal} terminal
 * @returns {Promise<number>}
 */
export declare function run(words: string[], terminal: import('./terminal.js').Terminal): Promise<number>;
