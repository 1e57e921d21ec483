/** Read the words of a command line, and tell of wrong ones. */
export type Option = {
    /**
     * such as `-H` and `--header`
     */
    names: string[];
    /**
     * of the result
     */
    member: string;
    help: string;
    /**
     * what its values are called; an option without values is a switch
     */
    values?: string[];
    /**
     * what a switch stands for, by default true
     */
    constant?: unknown;
    /**
     * its values are collected
     */
    isRepeatable?: boolean;
    choices?: string[];
    isNumber?: boolean;
    /**
     * the heading under which the help has it
     */
    group?: string;
    /**
     * the name of an option that it does not go with
     */
    excludes?: string;
};
export type Command = {
    /**
     * all of it, such as `agent-feedback agent show`
     */
    name: string;
    /**
     * its line in the overview
     */
    summary: string;
    description?: string;
    epilog?: string;
    positionals?: {
        name: string;
        help: string;
    }[];
    options?: Option[];
    commands?: Record<string, Command>;
    run?: (values: any, terminal: import('./terminal.js').Terminal) => Promise<number>;
};
/**
 * @typedef {object} Option
 * @property {string[]} names such as `-H` and `--header`
 * @property {string} member of the result
 * @property {string} help
 * @property {string[]} [values] what its values are called; an option without values is a switch
 * @property {unknown} [constant] what a switch stands for, by default true
 * @property {boolean} [isRepeatable] its values are collected
 * @property {string[]} [choices]
 * @property {boolean} [isNumber]
 * @property {string} [group] the heading under which the help has it
 * @property {string} [excludes] the name of an option that it does not go with
 */
/**
 * @typedef {object} Command
 * @property {string} name all of it, such as `agent-feedback agent show`
 * @property {string} summary its line in the overview
 * @property {string} [description]
 * @property {string} [epilog]
 * @property {{name: string, help: string}[]} [positionals]
 * @property {Option[]} [options]
 * @property {Record<string, Command>} [commands]
 * @property {(values: any, terminal: import('./terminal.js').Terminal) => Promise<number>} [run]
 */
/** The words are not those of the command. */
export declare class UsageError extends Error {
    command: Command;
    /**
     * @param {string} message
     * @param {Command} command
     */
    constructor(message: string, command: Command);
}
/** @type {Option} */
export declare const HELP: Option;
/**
 * Return what the words of a command say, by member; `help` is true where it is asked for.
 *
 * @param {Command} command
 * @param {string[]} words
 * @returns {Record<string, any>}
 */
export declare function readArguments(command: Command, words: string[]): Record<string, any>;
export type Reading = {
    command: Command;
    options: Option[];
    values: Record<string, any>;
    rest: string[];
};
