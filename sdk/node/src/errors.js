/** The errors of this package. */

const MAX_MESSAGE_LENGTH = 300;

/** An option has an unusable value; the message names the option and what it takes. */
export class InvalidOption extends TypeError {
  name = 'InvalidOption';
}

/** A call to the service did not succeed. */
export class ServiceError extends Error {
  name = 'ServiceError';
}

/** No usable answer arrived: a network error, a time-out, an unreadable body, or calls are switched off. */
export class ServiceUnavailable extends ServiceError {
  name = 'ServiceUnavailable';
}

/** No connection could be opened, so the service has received nothing. */
export class ServiceUnreachable extends ServiceUnavailable {
  name = 'ServiceUnreachable';
}

/** The service answered with an error status. */
export class ServiceRefused extends ServiceError {
  name = 'ServiceRefused';

  /**
   * @param {number} status the HTTP status
   * @param {unknown} [body] the answer as JSON, or else the beginning of its text
   */
  constructor(status, body) {
    const content = /** @type {Record<string, unknown>} */ (isObject(body) ? body : {});
    const code = printable(content.code);
    const sentence = printable(typeof body === 'string' ? body : content.error);
    const entries = Array.isArray(content.errors) ? content.errors.filter(isObject) : [];
    const problems = entries.map((entry) => `${printable(entry.pointer)} ${printable(entry.message)}`);
    const sentences = [sentence, ...problems].join(' / ').slice(0, MAX_MESSAGE_LENGTH);
    super(`${`${status} ${code}`.trimEnd()}: ${sentences}`);
    this.status = status;
    this.body = body;
    /** The service's error code, or an empty text. */
    this.code = code;
    /** The service's own sentence. */
    this.sentence = sentence;
    /** One entry with `pointer`, `code` and `message` for each problem of the request's body. */
    this.errors = entries;
  }
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Return a text of the service as one printable line; empty for anything that is no text.
 * @param {unknown} text
 * @returns {string}
 */
function printable(text) {
  return typeof text === 'string' ? text.slice(0, MAX_MESSAGE_LENGTH).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ') : '';
}
