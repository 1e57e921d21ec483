/** Read the words of a command line, and tell of wrong ones. */

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
export class UsageError extends Error {
  /**
   * @param {string} message
   * @param {Command} command
   */
  constructor(message, command) {
    super(message);
    this.command = command;
  }
}

/** @type {Option} */
export const HELP = { names: ['-h', '--help'], member: 'help', help: 'show this help message and exit' };

/**
 * Return what the words of a command say, by member; `help` is true where it is asked for.
 *
 * @param {Command} command
 * @param {string[]} words
 * @returns {Record<string, any>}
 */
export function readArguments(command, words) {
  const options = [HELP, ...(command.options ?? [])];
  const names = (command.positionals ?? []).map(({ name }) => name);
  const collected = options.filter((option) => option.isRepeatable).map(({ member }) => [member, []]);
  const values = Object.fromEntries(collected);
  const rest = [...words];
  const isOption = (/** @type {string} */ word) => word.startsWith('-') && word !== '-';
  let hasOptions = true;
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (hasOptions && word === '--') {
      hasOptions = false;
    } else if (hasOptions && isOption(word)) {
      readOption({ command, options, values, rest }, word);
    } else {
      values[takeName(command, names, word)] = word;
    }
  }
  if (names.length && !values.help) {
    throw new UsageError(`the following arguments are required: ${names.join(', ')}`, command);
  }
  return values;
}

/**
 * Return the member of the next positional argument.
 *
 * @param {Command} command
 * @param {string[]} names
 * @param {string} word
 */
function takeName(command, names, word) {
  const name = names.shift();
  if (name === undefined) {
    throw new UsageError(`unrecognized arguments: ${word}`, command);
  }
  return name.toLowerCase();
}

/**
 * @typedef {object} Reading
 * @property {Command} command
 * @property {Option[]} options
 * @property {Record<string, any>} values
 * @property {string[]} rest
 */

/**
 * @param {Reading} reading
 * @param {string} word
 */
function readOption({ command, options, values, rest }, word) {
  const { name, attached } = splitWord(word);
  const option = options.find(({ names }) => names.includes(name));
  if (!option || (attached !== null && !option.values)) {
    throw new UsageError(`unrecognized arguments: ${word}`, command);
  }
  const label = `argument ${option.names.join('/')}`;
  checkExclusion({ command, options, values, rest }, option, label);
  const value = option.values ? takeValue(command, option, label, { attached, rest }) : (option.constant ?? true);
  if (option.isRepeatable) {
    values[option.member].push(value);
  } else {
    values[option.member] = value;
  }
}

/**
 * @param {Reading} reading
 * @param {Option} option
 * @param {string} label
 */
function checkExclusion({ command, options, values }, { excludes }, label) {
  const other = options.find(({ names }) => excludes !== undefined && names.includes(excludes));
  if (other && values[other.member] === other.constant) {
    throw new UsageError(`${label}: not allowed with argument ${excludes}`, command);
  }
}

/**
 * @param {Command} command
 * @param {Option} option
 * @param {string} label
 * @param {{attached: string | null, rest: string[]}} words
 */
function takeValue(command, option, label, { attached, rest }) {
  const given = takeValues(option, attached, rest);
  if (given === null) {
    const count = option.values?.length ?? 0;
    throw new UsageError(`${label}: expected ${count === 1 ? 'one argument' : `${count} arguments`}`, command);
  }
  return given.length === 1 ? readValue(command, option, label, given[0] ?? '') : given;
}

/**
 * Return the name of an option and the value in the same word: `--note=text`, `-Htext`.
 *
 * @param {string} word
 */
function splitWord(word) {
  const [, name = word, attached = null] = /^(--[^=]+)=(.*)$/s.exec(word) ?? /^(-[^-])(.+)$/s.exec(word) ?? [];
  return { name, attached };
}

/**
 * Return the values of an option, or null where one is missing.
 *
 * @param {Option} option
 * @param {string | null} attached
 * @param {string[]} rest
 */
function takeValues(option, attached, rest) {
  const count = option.values?.length ?? 0;
  const values = attached === null ? [] : [attached];
  while (values.length < count) {
    const word = rest.shift();
    if (word === undefined || /^--?[A-Za-z][^\s]*$/.test(word)) {
      return null;
    }
    values.push(word);
  }
  return values;
}

/**
 * @param {Command} command
 * @param {Option} option
 * @param {string} label
 * @param {string} text
 */
function readValue(command, option, label, text) {
  if (option.choices && !option.choices.includes(text)) {
    const choices = option.choices.map((choice) => `'${choice}'`).join(', ');
    throw new UsageError(`${label}: invalid choice: '${text}' (choose from ${choices})`, command);
  }
  if (option.isNumber && (text.trim() === '' || Number.isNaN(Number(text)))) {
    throw new UsageError(`${label}: invalid float value: '${text}'`, command);
  }
  return option.isNumber ? Number(text) : text;
}
