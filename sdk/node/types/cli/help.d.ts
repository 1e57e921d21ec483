/** The help of a command, as people know it from other commands. */
export type Command = import('./arguments.js').Command;
export type Option = import('./arguments.js').Option;
/**
 * Return how a command is written.
 *
 * @param {Command} command
 */
export declare function usage(command: Command): string;
/**
 * Return the whole help of a command.
 *
 * @param {Command} command
 */
export declare function help(command: Command): string;
