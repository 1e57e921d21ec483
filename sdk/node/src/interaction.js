/** Interactions: one response or tool call of the product, from its envelope to its telemetry. */

import { LIFETIME_S, NONCE_BYTES, consentSubject, mint } from './capability.js';
import { UNKNOWN } from './consent.js';
import { buildEnvelope, encodeEnvelope } from './envelope.js';
import { formatUuid, timeOrderedBytes } from './interaction_id.js';
import { telemetryEvent } from './telemetry/event.js';

const ID_BYTES = 16;

/**
 * What all interactions of a process share.
 * @typedef {object} Services
 * @property {import('./options.js').Options} options
 * @property {{find(subject: string): {state: string, revision: number}}} consent
 * @property {{put(event: object): void}} telemetry
 */

/** @typedef {'http_json' | 'http_html' | 'http_headers' | 'mcp'} Surface */

/**
 * One response or tool call of the product.
 *
 *     const interaction = feedback.start('checkout', { customerRef: 'account_42' });
 *     answer._agentFeedback = interaction.envelope();
 *     interaction.finish({ statusCode: 200, durationMs: 12.5 });
 *
 * `operation` and `surface` may be changed until it is finished.
 */
export class Interaction {
  #services;
  #references;
  #nonce;
  #issuedAtMs = Date.now();
  #startedAtMs;
  #isFinished = false;

  /**
   * @param {Services} services
   * @param {string} operation
   * @param {Record<string, string>} references by telemetry's names
   * @param {{surface?: Surface | undefined, interactionId?: string | undefined, startedAtMs?: number | undefined}} [details]
   *   `startedAtMs` is when the request began, where that was before
   */
  constructor(services, operation, references, { surface = 'http_json', interactionId, startedAtMs } = {}) {
    const bytes = timeOrderedBytes(ID_BYTES + NONCE_BYTES);
    this.id = interactionId ?? formatUuid(bytes.subarray(0, ID_BYTES));
    this.operation = operation;
    /** @type {Surface} */
    this.surface = surface;
    this.#services = services;
    this.#references = references;
    this.#startedAtMs = startedAtMs ?? this.#issuedAtMs;
    this.#nonce = bytes.subarray(ID_BYTES);
  }

  /**
   * Return the envelope for the response; null in the mode `off` and with the kill switch.
   * @returns {import('./envelope.js').Envelope | null}
   */
  envelope() {
    return this.#isRecorded() ? buildEnvelope(this.#envelopeFacts()) : null;
  }

  /**
   * Return `envelope()` as JSON, faster than by encoding it.
   * @returns {string | null}
   */
  encodedEnvelope() {
    return this.#isRecorded() ? encodeEnvelope(this.#envelopeFacts()) : null;
  }

  /**
   * Put the interaction's telemetry event into the queue, once.
   * @param {{statusCode?: number | undefined, durationMs?: number | undefined}} [response]
   */
  finish({ statusCode, durationMs } = {}) {
    if (this.#isFinished || !this.#isRecorded()) {
      return;
    }
    this.#isFinished = true;
    this.#services.telemetry.put(
      telemetryEvent({
        interactionId: this.id,
        occurredAtMs: this.#startedAtMs,
        surface: this.surface,
        operation: this.operation,
        statusCode,
        durationMs,
        references: this.#references,
      }),
    );
  }

  #isRecorded() {
    const { isEnabled, mode } = this.#services.options;
    return isEnabled && mode !== 'off';
  }

  /** @returns {import('./envelope.js').EnvelopeFacts} */
  #envelopeFacts() {
    const { apiKey, endpoint, mode, serviceName } = this.#services.options;
    const { customerRef } = this.#references;
    const issuedAt = Math.floor(this.#issuedAtMs / 1000);
    const subject = mode === 'ask_once' && customerRef ? consentSubject(apiKey.scope, customerRef) : null;
    const { state, revision } = subject === null ? UNKNOWN : this.#services.consent.find(subject);
    const nonce = this.#nonce;
    return {
      endpoint,
      capability: mint(apiKey, { interactionId: this.id, issuedAt, nonce, subject, revision }),
      expiresAt: issuedAt + LIFETIME_S,
      mode,
      hasCustomer: subject !== null,
      decision: state,
      serviceName,
      reliability: this.surface === 'mcp' ? 'mcp' : 'http',
    };
  }
}
