/** What a failed request means. */

import { ServiceUnavailable, ServiceUnreachable } from '../errors.js';

/** The system calls that fail before a request is sent. */
const CONNECTING = new Set(['connect', 'getaddrinfo']);

/** Codes of a handshake that failed, or of a connection that was not opened in time. */
const NOT_CONNECTED =
  /^(?:UND_ERR_CONNECT_TIMEOUT|ERR_TLS_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ECONNREFUSED|ENOTFOUND)/;

/** The time of a request is up. */
export class DeadlinePassed extends Error {
  code = 'timeout';
}

/**
 * Return the error of this package for one of the runtime.
 *
 * @param {any} error
 * @param {boolean} [wasConnected] whether a connection was open, as far as that is known
 * @returns {ServiceUnavailable}
 */
export function unavailable(error, wasConnected = true) {
  if (error instanceof ServiceUnavailable) {
    return error;
  }
  const failures = failuresOf(error?.cause ?? error);
  const [cause] = failures;
  const message = `no usable answer (${nameOf(cause)})`;
  const isUnreachable = !wasConnected || failures.every(isConnecting);
  return isUnreachable ? new ServiceUnreachable(message, { cause }) : new ServiceUnavailable(message, { cause });
}

/** @param {any} cause */
function nameOf(cause) {
  return cause?.code ?? cause?.name ?? 'error';
}

/**
 * Return the failures of a request: a host with several addresses has one of each.
 *
 * @param {any} error
 * @returns {any[]}
 */
function failuresOf(error) {
  return error?.errors?.length ? error.errors : [error];
}

/**
 * Tell whether an error is one of opening a connection, so that nothing was sent.
 *
 * @param {any} error
 */
function isConnecting(error) {
  return CONNECTING.has(error?.syscall) || NOT_CONNECTED.test(String(error?.code));
}
