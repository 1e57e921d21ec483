/** The command `agent-feedback agent report`: a review or a report, shown before it is sent. */

import { open } from 'node:fs/promises';

import { checkedOutcome, checkedReport } from '../agent/validation.js';
import { InvalidOption } from '../errors.js';
import { contract } from '../protocol.js';
import { DONE, Failure, NOT_CONFIRMED, NO_ENVELOPE } from './exit_codes.js';
import { STANDARD_INPUT, permit, readInput, visit } from './product.js';
import { printable } from './terminal.js';

/**
 * @typedef {import('../agent/index.js').Received} Received
 * @typedef {import('./terminal.js').Terminal} Terminal
 * @typedef {Record<string, any>} JsonObject
 */

const MAX_FILE_BYTES = 64 * 1024;
const { outcomeBody: OUTCOME, reportSchema: BOUNDS } = contract;
const FINDING_HELP = `KIND is one of ${BOUNDS.findingKinds.join(', ')}, also with a severity, such as defect:minor`;
const PREVIEW_HELP = 'show what would be sent, and what the service would store of it; nothing is stored';
const APPROVE_HELP = "the user has agreed to the product's question: send the approval first";

/**
 * @param {string} group
 * @param {import('./arguments.js').Option[]} options
 */
function inGroup(group, options) {
  return options.map((option) => ({ ...option, group }));
}

/** @type {import('./arguments.js').Option[]} */
export const REPORT_OPTIONS = [
  ...inGroup('a review', [
    { names: ['--outcome'], member: 'outcome', values: ['OUTCOME'], choices: OUTCOME.outcome, help: '' },
    { names: ['--note'], member: 'note', values: ['NOTE'], help: 'one factual sentence about the outcome' },
  ]),
  ...inGroup('a report', [
    { names: ['--summary'], member: 'summary', values: ['SUMMARY'], help: '' },
    { names: ['--impact'], member: 'impact', values: ['IMPACT'], choices: BOUNDS.impacts, help: '' },
    { names: ['--confidence'], member: 'confidence', values: ['0..1'], isNumber: true, help: '' },
    {
      names: ['--finding'],
      member: 'findings',
      values: ['KIND', 'TOPIC', 'DETAIL'],
      isRepeatable: true,
      help: FINDING_HELP,
    },
    { names: ['--workaround'], member: 'workaround', values: ['DETAIL'], help: 'the workaround that was used' },
    { names: ['--file'], member: 'file', values: ['FILE'], help: 'the whole report as JSON; - is standard input' },
  ]),
  ...inGroup('how far to go', [
    { names: ['--preview'], member: 'preview', help: PREVIEW_HELP },
    { names: ['--approve'], member: 'approve', help: APPROVE_HELP },
    { names: ['-y', '--yes'], member: 'yes', help: 'send without asking here' },
  ]),
];

/** One review or report. */
class Feedback {
  /**
   * @param {boolean} isReview
   * @param {JsonObject} body
   */
  constructor(isReview, body) {
    this.isReview = isReview;
    this.body = body;
    this.kind = isReview ? 'review' : 'report';
  }

  /**
   * Return what would be sent for an envelope, within its bounds, or those of the contract before an approval.
   *
   * @param {JsonObject} content
   */
  checkedBody({ submitOutcome, submit }) {
    const { outcome, note } = this.body;
    return this.isReview
      ? checkedOutcome(outcome, note, submitOutcome ? submitOutcome.bodySchema : OUTCOME)
      : checkedReport(this.body, submit ? submit.reportSchema : BOUNDS);
  }

  /**
   * Send it, and resolve to the service's answer.
   *
   * @param {Received} received
   */
  send(received) {
    const { outcome, note } = this.body;
    return this.isReview ? received.submitOutcome(outcome, note) : received.submitReport(this.body);
  }

  /**
   * Resolve to what the service would store.
   *
   * @param {Received} received
   */
  preview(received) {
    const { outcome, note } = this.body;
    return this.isReview ? received.previewOutcome(outcome, note) : received.previewReport(this.body);
  }
}

/**
 * Return what was received, or throw `Failure`.
 *
 * @param {import('./product.js').Visit} product
 */
export function requireEnvelope({ received, place }) {
  if (received === null || place === null) {
    const message = 'the response has no envelope; `agent-feedback agent show --why` tells which rule left it alone';
    throw new Failure(message, NO_ENVELOPE);
  }
  return received;
}

/**
 * Show a review or a report, and send it if that is confirmed.
 *
 * @param {any} values
 * @param {Terminal} terminal
 */
export async function runReport(values, terminal) {
  const feedback = await readFeedback(values, terminal);
  const received = requireEnvelope(await visit(values, terminal));
  const body = feedback.checkedBody(received.content);
  if (!values.json || !(values.yes || values.preview)) {
    terminal.printLine(`${feedback.kind} for ${received.serviceOrigin}:`);
    terminal.printJson(body);
  }
  if (values.preview) {
    return showPreview(values, terminal, { feedback, received, body });
  }
  await permit(received, terminal);
  await requireApproval(values, terminal, received);
  if (!values.yes) {
    await requireConfirmation(terminal);
  }
  const answer = await feedback.send(received);
  if (values.json) {
    terminal.printJson(answer);
  } else {
    terminal.printLine(`accepted, for the interaction ${printable(answer.interactionId)}`);
  }
  return DONE;
}

/**
 * @param {any} values
 * @param {Terminal} terminal
 * @param {{feedback: Feedback, received: Received, body: JsonObject}} draft
 */
async function showPreview(values, terminal, { feedback, received, body }) {
  const { question } = received;
  /** @type {JsonObject | null} */
  let answer = null;
  if (question === null) {
    await permit(received, terminal);
    answer = await feedback.preview(received);
  }
  if (values.json) {
    terminal.printJson({ body, question, preview: answer });
  } else if (answer === null) {
    terminal.printLine(`The user has to be asked first: ${printable(question)}`);
    terminal.printLine('Only then does the service tell what it would store. Nothing was sent.');
  } else {
    const isFirst = Boolean(answer.wouldBeStored);
    terminal.printLine(isFirst ? 'The service would store:' : 'This would not be stored, since an earlier one stays:');
    terminal.printJson(answer[feedback.kind] ?? null);
    terminal.printLine('Nothing is stored.');
  }
  return DONE;
}

/**
 * Have the user approve where the product's question stands, or throw.
 *
 * @param {any} values
 * @param {Terminal} terminal
 * @param {Received} received
 */
async function requireApproval(values, terminal, received) {
  if (received.question !== null) {
    await received.introspect();
  }
  const { question } = received;
  if (question === null) {
    return;
  }
  if (!values.approve && !terminal.isInteractive) {
    throw new InvalidOption(`the user has to be asked: ${question} Pass --approve after a clear yes`);
  }
  if (!values.approve && !(await terminal.confirm(printable(question)))) {
    throw new Failure('the user did not approve it; nothing was sent', NOT_CONFIRMED);
  }
  await received.decide('approved');
}

/** @param {Terminal} terminal */
async function requireConfirmation(terminal) {
  if (!terminal.isInteractive) {
    throw new InvalidOption('nothing was sent: nobody can be asked here; --yes sends it');
  }
  if (!(await terminal.confirm('Send it?'))) {
    throw new Failure('nothing was sent', NOT_CONFIRMED);
  }
}

/**
 * @param {any} values
 * @param {Terminal} terminal
 */
async function readFeedback(values, terminal) {
  const { outcome, note } = values;
  const hasReview = outcome !== undefined || note !== undefined;
  const report = await readReport(values, terminal);
  if (hasReview === Object.keys(report).length > 0) {
    throw new InvalidOption('either a review (--outcome and --note) or a report (--summary or --file) is needed');
  }
  if (hasReview && (outcome === undefined || note === undefined)) {
    throw new InvalidOption('a review needs --outcome and --note');
  }
  if (!hasReview && !Object.hasOwn(report, 'summary')) {
    throw new InvalidOption('a report needs --summary');
  }
  return hasReview ? new Feedback(true, { outcome, note }) : new Feedback(false, report);
}

/**
 * @param {any} values
 * @param {Terminal} terminal
 * @returns {Promise<JsonObject>}
 */
async function readReport(values, terminal) {
  const { summary, impact, confidence, findings, workaround, file } = values;
  const members = {
    summary,
    impact,
    confidence,
    findings: findings.length ? findings.map(readFinding) : undefined,
    workaround: workaround === undefined ? undefined : { used: true, detail: workaround },
  };
  const report = Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
  if (file === undefined) {
    return report;
  }
  if (Object.keys(report).length) {
    throw new InvalidOption('--file is the whole report; it goes with no other part of one');
  }
  if (file === STANDARD_INPUT && values.url === STANDARD_INPUT) {
    throw new InvalidOption('only one of URL and --file can be standard input');
  }
  return parseReport(file === STANDARD_INPUT ? await readInput(terminal, MAX_FILE_BYTES) : await readFile(file));
}

/** @param {string[]} words */
function readFinding([kind = '', topic, detail]) {
  const [, name, severity] = /^([^:]*):(.*)$/s.exec(kind) ?? [];
  return name === undefined ? { kind, topic, detail } : { kind: name, topic, detail, severity };
}

/** @param {string} path */
async function readFile(path) {
  try {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_FILE_BYTES), 0, MAX_FILE_BYTES, 0);
      return buffer.toString('utf8', 0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
    throw new InvalidOption(`--file: ${code === 'ENOENT' ? 'No such file or directory' : message}`);
  }
}

/** @param {string} text */
function parseReport(text) {
  let report;
  try {
    report = JSON.parse(text);
  } catch {
    throw new InvalidOption('--file: it is no JSON');
  }
  if (typeof report !== 'object' || report === null || Array.isArray(report) || !Object.keys(report).length) {
    throw new InvalidOption('--file: a JSON object is needed');
  }
  return report;
}
