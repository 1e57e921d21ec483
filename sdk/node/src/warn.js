/** Warnings, on standard error where there is one. */

/**
 * Print a warning.
 * @param {string} message
 */
export function warn(message) {
  globalThis.console.warn(`agent-feedback: ${message}`);
}

/** Prints one warning of each kind: a product may have thousands of responses a second. */
export class WarnOnce {
  /** @type {Set<string>} */
  #kinds = new Set();

  /**
   * Print a warning, unless there was one of this kind.
   * @param {string} kind
   * @param {string} message
   */
  warn(kind, message) {
    if (!this.#kinds.has(kind)) {
      this.#kinds.add(kind);
      warn(message);
    }
  }
}

/**
 * Return the kind of a thrown value; its message may hold data of the product.
 * @param {unknown} error
 * @returns {string}
 */
export function kindOf(error) {
  return error instanceof Error ? error.name : typeof error;
}
