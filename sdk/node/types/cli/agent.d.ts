/** The commands `agent-feedback agent show`, `ask`, `report` and `mcp`. */
export type Received = import('../agent/index.js').Received;
export type Command = import('./arguments.js').Command;
export type Terminal = import('./terminal.js').Terminal;
/** @type {Command} */
export declare const AGENT: Command;
