/** What is known of a customer for one purpose. */

/**
 * @typedef {object} ContextItem one signal: a field of the catalog and its value
 * @property {string} signalId
 * @property {string} key
 * @property {string} type
 * @property {string} value
 * @property {string} summary
 * @property {string} provenance
 * @property {number | null} confidence
 * @property {readonly string[]} allowedUses empty for a value that an agent only inferred: it must not be used
 * @property {boolean} remembered
 * @property {string} expiresAt
 */

/** The signals that may be used for one purpose. */
export class Context {
  /**
   * @param {object} [members]
   * @param {string | null} [members.retrievalId]
   * @param {string | null} [members.identityLevel]
   * @param {string | null} [members.contextVersion]
   * @param {string | null} [members.interactionId]
   * @param {readonly ContextItem[]} [members.items]
   */
  constructor({ retrievalId, identityLevel, contextVersion, interactionId, items } = {}) {
    this.retrievalId = retrievalId ?? null;
    this.identityLevel = identityLevel ?? null;
    this.contextVersion = contextVersion ?? null;
    this.interactionId = interactionId ?? null;
    this.items = items ?? [];
    Object.freeze(this);
  }

  /** Whether nothing is known. */
  get isEmpty() {
    return this.items.length === 0;
  }

  /** The ids of all signals, for `recordDecision`. */
  get signalIds() {
    return this.items.map((item) => item.signalId);
  }

  /**
   * Return the value of a field if there is one that may be used, or else null.
   *
   * @param {string} key
   * @returns {string | null}
   */
  value(key) {
    return this.items.find((item) => item.key === key && item.allowedUses.length > 0)?.value ?? null;
  }
}

/**
 * Return the context of an answer of the service.
 *
 * @param {Record<string, any>} content
 */
export function readContext(content) {
  return new Context({
    retrievalId: String(content.retrievalId),
    identityLevel: content.identityLevel,
    contextVersion: content.contextVersion,
    interactionId: content.interactionId,
    items: Object.freeze(content.items.map(readItem)),
  });
}

/**
 * @param {Record<string, any>} item
 * @returns {ContextItem}
 */
function readItem(item) {
  return Object.freeze({
    signalId: String(item.signalId),
    key: String(item.key),
    type: String(item.type),
    value: String(item.value),
    summary: String(item.summary ?? ''),
    provenance: String(item.provenance),
    confidence: item.confidence ?? null,
    allowedUses: Object.freeze([...item.allowedUses]),
    remembered: Boolean(item.remembered),
    expiresAt: String(item.expiresAt),
  });
}
