/** The help of a command, as people know it from other commands. */

import { HELP } from './arguments.js';

/**
 * @typedef {import('./arguments.js').Command} Command
 * @typedef {import('./arguments.js').Option} Option
 */

const WIDTH = 78;
const HELP_COLUMN = 24;

/**
 * Return how a command is written.
 *
 * @param {Command} command
 */
export function usage(command) {
  const options = [HELP, ...(command.options ?? [])].map((option) => `[${syntax(option, option.names[0] ?? '')}]`);
  const positionals = (command.positionals ?? []).map(({ name }) => name);
  const words = [...options, ...positionals, ...(command.commands ? ['COMMAND', '...'] : [])];
  const prefix = `usage: ${command.name} `;
  return wrap(words, WIDTH - prefix.length)
    .map((line, index) => (index === 0 ? prefix : ' '.repeat(prefix.length)) + line)
    .join('\n');
}

/**
 * Return the whole help of a command.
 *
 * @param {Command} command
 */
export function help(command) {
  const options = [HELP, ...(command.options ?? [])];
  const groups = new Map([['options', options.filter(({ group }) => group === undefined)]]);
  for (const option of options.filter(({ group }) => group !== undefined)) {
    const group = String(option.group);
    groups.set(group, [...(groups.get(group) ?? []), option]);
  }
  const commands = Object.entries(command.commands ?? {});
  const positionals = (command.positionals ?? []).map(({ name, help: text }) => row(name, text));
  const sections = [
    usage(command),
    wrapText(command.description ?? ''),
    section('positional arguments', commands.length ? ['  COMMAND', ...commands.map(subcommand)] : positionals),
    ...[...groups].map(([name, group]) => section(name, group.map(optionRow))),
    command.epilog ?? '',
  ];
  return sections.filter(Boolean).join('\n\n');
}

/**
 * @param {string} name
 * @param {string[]} rows
 */
function section(name, rows) {
  return rows.length ? [`${name}:`, ...rows].join('\n') : '';
}

/** @param {[string, Command]} entry */
function subcommand([name, { summary }]) {
  return row(`  ${name}`, summary, 12);
}

/** @param {Option} option */
function optionRow(option) {
  return row(option.names.map((name) => syntax(option, name)).join(', '), option.help);
}

/**
 * @param {Option} option
 * @param {string} name
 */
function syntax({ values = [], choices }, name) {
  const words = choices ? [`{${choices.join(',')}}`] : values;
  return [name, ...words].join(' ');
}

/**
 * @param {string} name
 * @param {string} text
 * @param {number} [column]
 */
function row(name, text, column = HELP_COLUMN) {
  const lines = wrap(text.split(' '), WIDTH - column);
  const head = `  ${name}`;
  const isShort = head.length <= column - 2;
  const first = isShort ? [head.padEnd(column) + (lines.shift() ?? '')] : [head];
  return [...first, ...lines.map((line) => ' '.repeat(column) + line)].join('\n').trimEnd();
}

/** @param {string} text */
function wrapText(text) {
  return wrap(text.split(' '), WIDTH).join('\n');
}

/**
 * @param {string[]} words
 * @param {number} width
 */
function wrap(words, width) {
  /** @type {string[]} */
  const lines = [];
  for (const word of words) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= width) {
      lines[lines.length - 1] = `${line} ${word}`;
    } else {
      lines.push(word);
    }
  }
  return lines;
}
