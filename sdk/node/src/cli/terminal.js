/** What the command line writes and reads: lines, JSON, errors and questions. */

import { createInterface } from 'node:readline';

const MAX_LINE_LENGTH = 2000;
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** @type {Record<string, boolean>} */
const ANSWERS = { y: true, yes: true, n: false, no: false };

/** The streams of a command. */
export class Terminal {
  /**
   * @param {object} streams
   * @param {NodeJS.ReadableStream & {isTTY?: boolean}} streams.input
   * @param {NodeJS.WritableStream} streams.output
   * @param {NodeJS.WritableStream & {isTTY?: boolean}} streams.errors
   */
  constructor({ input, output, errors }) {
    this.input = input;
    this.output = output;
    this.errors = errors;
    /** Whether a person can be asked. */
    this.isInteractive = Boolean(input.isTTY && errors.isTTY);
  }

  /**
   * Write one line to standard output.
   *
   * @param {string} [text]
   */
  printLine(text = '') {
    this.output.write(`${text}\n`);
  }

  /**
   * Write JSON to standard output.
   *
   * @param {unknown} content
   */
  printJson(content) {
    this.printLine(JSON.stringify(content, null, 2));
  }

  /**
   * Write a message to standard error.
   *
   * @param {string} text
   */
  printError(text) {
    this.errors.write(`agent-feedback: ${printable(text)}\n`);
  }

  /**
   * Ask the person at the terminal; anything but a clear yes is a no.
   *
   * @param {string} question
   */
  async confirm(question) {
    return (await this.ask(question, '[y/N]')) === true;
  }

  /**
   * Resolve to whether the person at the terminal says yes or no, or to null for anything else.
   *
   * @param {string} question
   * @param {string} [answers]
   * @returns {Promise<boolean | null>}
   */
  async ask(question, answers = '[y/n]') {
    this.errors.write(`${question} ${answers} `);
    this.#lines ??= createInterface({ input: this.input, terminal: false })[Symbol.asyncIterator]();
    const { value = '' } = await this.#lines.next();
    return ANSWERS[String(value).trim().toLowerCase()] ?? null;
  }

  /**
   * Let the process end although the person could say more.
   */
  close() {
    this.#lines?.return?.();
  }

  /** @type {AsyncIterator<string> | null} */
  #lines = null;
}

/**
 * Return the text of a product or a service as one line without what would steer a terminal.
 *
 * @param {unknown} text
 */
export function printable(text) {
  return String(text).slice(0, MAX_LINE_LENGTH).replace(UNPRINTABLE, ' ');
}

/**
 * Return JSON without its credentials, of which only the beginning is shown.
 *
 * @param {unknown} content
 * @returns {unknown}
 */
export function redacted(content) {
  if (Array.isArray(content)) {
    return content.map(redacted);
  }
  if (typeof content !== 'object' || content === null) {
    return content;
  }
  return Object.fromEntries(
    Object.entries(content).map(([name, entry]) => [
      name,
      name === 'authorization' ? `${String(entry).split('.')[0]}…` : redacted(entry),
    ]),
  );
}

/** @type {[RegExp, string][]} */
const REASONS = [
  [/^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT)/, 'its certificate is not valid'],
  [/^(?:ERR_SSL_|ERR_TLS_|EPROTO)/, 'it does not speak TLS as is needed'],
  [/^(?:ENOTFOUND|EAI_)/, 'there is no such host'],
  [/^(?:timeout|ETIMEDOUT)/, 'there was no answer in time'],
  [/^ECONNREFUSED/, 'nothing listens there'],
  [/^(?:ECONNRESET|UND_ERR_SOCKET)/, 'it closed the connection without an answer'],
  [/^(?:HPE_)/, 'its answer is not HTTP'],
  [/^EPIPE/, 'it closed the connection'],
];

/**
 * Return why a server could not be reached, to be added to the message; empty if that is not known.
 *
 * @param {Error} error
 */
export function reasonOf(error) {
  const code = String(/** @type {{code?: unknown} | undefined} */ (error.cause)?.code ?? '');
  const reason = REASONS.find(([pattern]) => pattern.test(code))?.[1];
  return reason ? `: ${reason}` : '';
}
