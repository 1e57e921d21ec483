/** A product's response on the command line: fetched, or read from standard input. */
export declare const ORIGINS_VARIABLE = "AGENT_FEEDBACK_ALLOWED_ORIGINS";
export declare const STANDARD_INPUT = "-";
export type Terminal = import('./terminal.js').Terminal;
/** @typedef {import('./terminal.js').Terminal} Terminal */
/** @type {import('./arguments.js').Option} */
export declare const ORIGIN_OPTION: import('./arguments.js').Option;
/** @type {import('./arguments.js').Option[]} */
export declare const PRODUCT_OPTIONS: import('./arguments.js').Option[];
export declare const PRODUCT_POSITIONALS: {
    name: string;
    help: string;
}[];
export type Visit = {
    /**
     * null for a response from standard input
     */
    page: import('../agent/index.js').Page | null;
    received: import('../agent/index.js').Received | null;
    /**
     * where the envelope was: `header`, `json` or `html`, or `request` where it had to be
     * asked for
     */
    place: string | null;
};
/**
 * @typedef {object} Visit one look at a product
 * @property {import('../agent/index.js').Page | null} page null for a response from standard input
 * @property {import('../agent/index.js').Received | null} received
 * @property {string | null} place where the envelope was: `header`, `json` or `html`, or `request` where it had to be
 *   asked for
 */
/**
 * Fetch the response, and what it offers to agents that ask for it.
 *
 * @param {{url: string, header: string[], allowOrigin: string[]}} values
 * @param {Terminal} terminal
 * @returns {Promise<Visit>}
 */
export declare function visit({ url, header, allowOrigin }: {
    url: string;
    header: string[];
    allowOrigin: string[];
}, terminal: Terminal): Promise<Visit>;
/**
 * Return the origins of services that may get something, of the arguments and the environment.
 *
 * @param {string[]} words
 */
export declare function readOrigins(words: string[]): string[];
/**
 * Make sure that the service of an envelope may get something, or throw `InvalidOption`.
 *
 * @param {import('../agent/index.js').Received} received
 * @param {Terminal} terminal
 */
export declare function permit(received: import('../agent/index.js').Received, terminal: Terminal): Promise<void>;
/**
 * Resolve to the text of standard input.
 *
 * @param {Terminal} terminal
 * @param {number} limit
 */
export declare function readInput(terminal: Terminal, limit: number): Promise<string>;
