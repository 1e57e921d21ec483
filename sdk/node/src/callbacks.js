/** Calls the company's callbacks for a request, and keeps what the service accepts. */

import { cleanHint, userAgentHint } from './hint.js';
import { normalizeNamedOperation, normalizeOperation } from './operation.js';
import { contract } from './protocol.js';
import { WarnOnce } from './warn.js';

/** @typedef {import('./request.js').Request} Request */

const REFERENCE = new RegExp(contract.reference);

/**
 * What a company says of an interaction; what the service would refuse is left out.
 * @typedef {object} ReferenceTexts
 * @property {unknown} [customerRef]
 * @property {unknown} [sessionRef]
 * @property {unknown} [runtimeHint]
 */

/** The callbacks of one process; an unusable value of each is warned of once. */
export class Callbacks {
  #options;
  #warnings = new WarnOnce();

  /** @param {import('./options.js').Options} options */
  constructor(options) {
    this.#options = options;
  }

  /**
   * Tell whether the company wants an envelope in the response to this request.
   * @param {Request} request
   * @returns {boolean}
   */
  shouldInstrument(request) {
    const callback = this.#options.shouldInstrument;
    return callback === null || Boolean(callback(request.source));
  }

  /**
   * Return the operation of a request: the callback's if the service would take it, or else that of the path.
   * @param {Request} request
   * @returns {string}
   */
  operation(request) {
    const name = this.#options.operation?.(request.source) ?? null;
    return name === null ? normalizeOperation(request.path) : this.namedOperation(name, request.path);
  }

  /**
   * Return an operation that the company has named, or that of the path where the service would refuse it.
   * @param {unknown} name
   * @param {string} path
   * @returns {string}
   */
  namedOperation(name, path) {
    const operation = normalizeNamedOperation(name);
    if (operation === null) {
      this.#warn('operation', 'the path is used instead: no white space, @ or control character is allowed');
    }
    return operation ?? normalizeOperation(path);
  }

  /**
   * Return what the callbacks say of a request, by telemetry's names.
   * @param {Request} request
   * @returns {Record<string, string>}
   */
  references(request) {
    const { customerRef, sessionRef, runtimeHint } = this.#options;
    return this.members({
      customerRef: customerRef?.(request.source),
      sessionRef: sessionRef?.(request.source),
      runtimeHint:
        typeof runtimeHint === 'function'
          ? runtimeHint(request.source)
          : runtimeHint && userAgentHint(request.header('user-agent')),
    });
  }

  /**
   * Return references and a hint by telemetry's names, without what the service would refuse.
   * @param {ReferenceTexts} texts
   * @returns {Record<string, string>}
   */
  members(texts) {
    const customerRef = this.#reference('customerRef', texts.customerRef);
    const sessionRef = this.#reference('sessionRef', texts.sessionRef);
    const runtimeHint = cleanHint(texts.runtimeHint);
    return {
      ...(customerRef && { customerRef }),
      ...(sessionRef && { sessionRef, sessionSource: 'customer' }),
      ...(runtimeHint && { runtimeHint, runtimeHintSource: 'http' }),
    };
  }

  /**
   * @param {string} option
   * @param {unknown} reference
   * @returns {string | null}
   */
  #reference(option, reference) {
    if (typeof reference === 'string' && REFERENCE.test(reference)) {
      return reference;
    }
    if (reference) {
      // The service would refuse the event.
      this.#warn(option, 'it was left out: a text of 1 to 160 letters, digits and _.:- is needed');
    }
    return null;
  }

  /**
   * @param {string} option
   * @param {string} consequence
   */
  #warn(option, consequence) {
    this.#warnings.warn(option, `${option} returned an unusable value; ${consequence}`);
  }
}
