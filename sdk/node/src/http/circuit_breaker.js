/** Stop calling a service for a while after a failure. */

/** Open for some time after a failure; then one caller tries the service again while the others wait. */
export class CircuitBreaker {
  #pauseMs;
  /** @type {number | null} on the monotonic clock */
  #openUntil = null;

  /** @param {number} pauseMs */
  constructor(pauseMs) {
    this.#pauseMs = pauseMs;
  }

  /** Tell whether the caller must not call; the first caller after the time is up gets false and may try. */
  isOpen() {
    if (this.#openUntil === null) {
      return false;
    }
    const now = performance.now();
    if (now < this.#openUntil) {
      return true;
    }
    this.#openUntil = now + this.#pauseMs;
    return false;
  }

  /**
   * Stop the calls from now on, for longer than usual if that is asked for.
   *
   * @param {number} [leastMs]
   */
  open(leastMs = 0) {
    this.#openUntil = performance.now() + Math.max(this.#pauseMs, leastMs);
  }

  /** Allow all calls again. */
  close() {
    this.#openUntil = null;
  }
}
