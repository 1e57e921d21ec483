/** The command `agent-feedback agent show`. */
export type Received = import('../agent/index.js').Received;
export type Visit = import('./product.js').Visit;
export type Terminal = import('./terminal.js').Terminal;
export type Introspection = {
    introspection: Record<string, any> | null;
    problem: string | null;
};
/**
 * @typedef {object} Introspection what the service says of the envelope, or why it was not asked
 * @property {Record<string, any> | null} introspection
 * @property {string | null} problem
 */
/**
 * Print the state, the question and what may be submitted.
 *
 * @param {any} values
 * @param {Terminal} terminal
 */
export declare function runShow(values: any, terminal: Terminal): Promise<0 | 4>;
