/** What there is to say of an envelope, by name. */

/** @type {Record<string, string>} */
const PLACES = {
  json: 'in the JSON',
  html: 'in the HTML',
  header: 'in the header',
  request: "given on request, as the response's link says",
};
const MEMBERS = [
  ['expires', 'expiresAt'],
  ['instruction', 'instruction'],
  ['privacy', 'privacy'],
];

/**
 * Return the facts of an envelope.
 *
 * @param {string} place
 * @param {import('../agent/index.js').Received} received
 * @param {Record<string, any> | null} introspection
 * @returns {[string, unknown][]}
 */
export function facts(place, { content, state, serviceOrigin, question }, introspection) {
  /** @type {[string, unknown][]} */
  const result = [
    ['envelope', PLACES[place]],
    ['state', state],
    ['service', serviceOrigin ?? 'none'],
  ];
  if (introspection) {
    result.push(['product', introspection.productName], ['mode', introspection.configuredMode]);
  }
  if (question) {
    result.push(['question', question]);
  }
  result.push(...submissionFacts(content));
  if (typeof content.manageConsent === 'object' && content.manageConsent !== null) {
    result.push(['choice', `${content.manageConsent.current}; ask --approve or --decline changes it`]);
  }
  for (const [name = '', member = ''] of MEMBERS) {
    if (Object.hasOwn(content, member)) {
      result.push([name, content[member]]);
    }
  }
  return result;
}

/**
 * Return what may be submitted, as far as the envelope publishes its bounds.
 *
 * @param {Record<string, any>} content
 * @returns {[string, unknown][]}
 */
function submissionFacts({ submitOutcome, submit }) {
  return [
    ...published('review', () => {
      const { outcome, note } = submitOutcome.bodySchema;
      return `--outcome ${outcome.join('|')} --note of ${note.minLength} to ${note.maxLength} characters`;
    }),
    ...published('report', () => {
      const { summaryMinLength, summaryMaxLength, optional } = submit.reportSchema;
      const summary = `--summary of ${summaryMinLength} to ${summaryMaxLength} characters`;
      return `${summary}; it may have ${optional.join(', ')}`;
    }),
  ];
}

/**
 * @param {string} name
 * @param {() => string} read
 * @returns {[string, unknown][]}
 */
function published(name, read) {
  try {
    return [[name, read()]];
  } catch {
    return [];
  }
}
