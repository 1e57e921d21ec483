/** The command `agent-feedback agent report`: a review or a report, shown before it is sent. */
export type Received = import('../agent/index.js').Received;
export type Terminal = import('./terminal.js').Terminal;
export type JsonObject = Record<string, any>;
/** @type {import('./arguments.js').Option[]} */
export declare const REPORT_OPTIONS: import('./arguments.js').Option[];
/**
 * Return what was received, or throw `Failure`.
 *
 * @param {import('./product.js').Visit} product
 */
export declare function requireEnvelope({ received, place }: import('./product.js').Visit): import("../agent/received.js").Received;
/**
 * Show a review or a report, and send it if that is confirmed.
 *
 * @param {any} values
 * @param {Terminal} terminal
 */
export declare function runReport(values: any, terminal: Terminal): Promise<number>;
