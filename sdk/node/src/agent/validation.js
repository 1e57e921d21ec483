/** Check reviews, reports and decisions against the bounds that an envelope publishes. */

import { InvalidOption } from '../errors.js';
import { contract } from '../protocol.js';

/** @typedef {Record<string, any>} JsonObject */

const WHITE_SPACE = /\p{White_Space}+/u;

/**
 * Return the body of a review, or throw `InvalidOption` with all that the bounds do not allow.
 * @param {unknown} outcome
 * @param {unknown} note
 * @param {any} bounds
 */
export function checkedOutcome(outcome, note, bounds) {
  const body = { outcome, note: folded(note) };
  throwFor(() => [
    ...choiceProblems('outcome', body.outcome, bounds.outcome),
    ...lengthProblems('note', body.note, bounds.note.minLength, bounds.note.maxLength),
  ]);
  return body;
}

/**
 * Return the body of a report, or throw `InvalidOption` with all that the bounds do not allow.
 * @param {JsonObject} report
 * @param {any} bounds
 */
export function checkedReport(report, bounds) {
  if (!isObject(report)) {
    throw new InvalidOption('a report is an object with a summary');
  }
  const body = { ...report };
  for (const [name, value] of Object.entries(report)) {
    if (name === 'summary') {
      body[name] = folded(value);
    } else if (name === 'findings' && Array.isArray(value)) {
      body[name] = value.map(withFoldedDetail);
    } else if (name === 'workaround') {
      body[name] = withFoldedDetail(value);
    }
  }
  throwFor(() => [...reportProblems(body, bounds)]);
  return body;
}

/**
 * Throw `InvalidOption` for a decision that the bounds do not allow.
 * @param {unknown} decision
 * @param {any} bounds
 */
export function checkDecision(decision, bounds) {
  throwFor(() => [...choiceProblems('decision', decision, bounds.decision)]);
}

/** @param {() => string[]} findProblems */
function throwFor(findProblems) {
  let problems;
  try {
    problems = findProblems();
  } catch {
    throw new InvalidOption('this envelope does not say how to submit');
  }
  if (problems.length) {
    throw new InvalidOption(problems.join('; '));
  }
}

/**
 * @param {JsonObject} body
 * @param {JsonObject} bounds
 * @returns {Generator<string>}
 */
function* reportProblems(body, bounds) {
  yield* memberProblems('', body, bounds.required, bounds.optional);
  if ('summary' in body) {
    yield* lengthProblems('summary', body.summary, bounds.summaryMinLength, bounds.summaryMaxLength);
  }
  if ('impact' in body) {
    yield* choiceProblems('impact', body.impact, bounds.impacts);
  }
  if ('confidence' in body) {
    yield* rangeProblems('confidence', body.confidence, bounds.confidenceRange);
  }
  if ('findings' in body) {
    yield* findingsProblems(body.findings, bounds);
  }
  if ('workaround' in body) {
    yield* workaroundProblems(body.workaround, bounds);
  }
}

/**
 * @param {unknown} findings
 * @param {JsonObject} bounds
 * @returns {Generator<string>}
 */
function* findingsProblems(findings, bounds) {
  if (!Array.isArray(findings) || findings.length > bounds.maxFindings) {
    yield `findings must be a list of at most ${bounds.maxFindings}`;
    return;
  }
  for (const [number, finding] of findings.entries()) {
    yield* findingProblems(`findings[${number}]`, finding, bounds);
  }
}

/**
 * @param {string} place
 * @param {any} finding
 * @param {JsonObject} bounds
 * @returns {Generator<string>}
 */
function* findingProblems(place, finding, bounds) {
  yield* memberProblems(place, finding, bounds.findingRequired, bounds.findingOptional);
  if (!isObject(finding)) {
    return;
  }
  if ('kind' in finding) {
    yield* choiceProblems(`${place}.kind`, finding.kind, bounds.findingKinds);
  }
  if ('topic' in finding && !hasFormat(finding.topic, bounds.findingTopicFormat)) {
    yield `${place}.topic must have the format ${bounds.findingTopicFormat}, such as search_results`;
  }
  if ('detail' in finding) {
    const { findingDetailMinLength: shortest, findingDetailMaxLength: longest } = bounds;
    yield* lengthProblems(`${place}.detail`, finding.detail, shortest, longest);
  }
  if ('severity' in finding) {
    yield* choiceProblems(`${place}.severity`, finding.severity, bounds.findingSeverities);
  }
}

/**
 * @param {any} workaround
 * @param {JsonObject} bounds
 * @returns {Generator<string>}
 */
function* workaroundProblems(workaround, bounds) {
  yield* memberProblems('workaround', workaround, bounds.workaroundRequired, bounds.workaroundOptional);
  if (!isObject(workaround)) {
    return;
  }
  if ('used' in workaround && typeof workaround.used !== 'boolean') {
    yield 'workaround.used must be true or false';
  }
  if ('detail' in workaround) {
    const { workaroundDetailMinLength: shortest, workaroundDetailMaxLength: longest } = bounds;
    yield* lengthProblems('workaround.detail', workaround.detail, shortest, longest);
  } else if (workaround.used === true) {
    yield 'workaround.detail is needed for a workaround that was used';
  }
}

/**
 * @param {string} place
 * @param {unknown} value
 * @param {string[]} required
 * @param {string[]} optional
 * @returns {Generator<string>}
 */
function* memberProblems(place, value, required, optional) {
  if (!isObject(value)) {
    yield `${place} must be an object`;
    return;
  }
  const names = [...required, ...optional];
  const prefix = place ? `${place}.` : '';
  for (const name of Object.keys(value).filter((member) => !names.includes(member))) {
    yield `there is no ${prefix}${name}; there are ${names.join(', ')}`;
  }
  for (const name of required.filter((member) => !Object.hasOwn(value, member))) {
    yield `${prefix}${name} is needed`;
  }
}

/**
 * @param {string} place
 * @param {unknown} value
 * @param {string[]} choices
 * @returns {Generator<string>}
 */
function* choiceProblems(place, value, choices) {
  // A text has `includes` too, and every part of it would be a choice.
  if (!Array.isArray(choices)) {
    throw new TypeError('a list of choices is needed');
  }
  if (typeof value !== 'string' || !choices.includes(value)) {
    yield `${place} must be one of ${choices.join(', ')}`;
  }
}

/**
 * @param {string} place
 * @param {unknown} value
 * @param {number} shortest
 * @param {number} longest
 * @returns {Generator<string>}
 */
function* lengthProblems(place, value, shortest, longest) {
  const length = typeof value === 'string' ? [...value].length : -1;
  if (!(length >= shortest && length <= longest)) {
    yield `${place} must have ${shortest} to ${longest} characters`;
  }
}

/**
 * @param {string} place
 * @param {unknown} value
 * @param {[number, number]} range
 * @returns {Generator<string>}
 */
function* rangeProblems(place, value, [least, most]) {
  if (typeof value !== 'number' || !(value >= least && value <= most)) {
    yield `${place} must be a number from ${least} to ${most}`;
  }
}

/**
 * Tell whether a text has a format of the contract; one that the contract does not know is the service's matter.
 * @param {unknown} value
 * @param {string} name
 */
function hasFormat(value, name) {
  const pattern = Object.hasOwn(contract.formats, name) ? contract.formats[name] : '';
  return typeof value === 'string' && new RegExp(pattern).test(value);
}

/**
 * Return a text with each run of white space as one space.
 * @param {unknown} value
 */
function folded(value) {
  return typeof value === 'string' ? value.split(WHITE_SPACE).filter(Boolean).join(' ') : value;
}

/** @param {unknown} value */
function withFoldedDetail(value) {
  return isObject(value) && 'detail' in value ? { ...value, detail: folded(value.detail) } : value;
}

/**
 * @param {unknown} value
 * @returns {value is JsonObject}
 */
function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
