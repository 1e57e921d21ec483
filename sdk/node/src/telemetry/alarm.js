/** A wait that ends early when it is rung, and that never keeps a process alive. */

/** Timers fire at once for more than this. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

export class Alarm {
  /** @type {(() => void) | null} */
  #stop = null;

  /**
   * Wait for so many milliseconds, or until `ring`.
   *
   * @param {number} milliseconds
   * @returns {Promise<void>}
   */
  wait(milliseconds) {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#stop?.(), Math.min(milliseconds, MAX_TIMER_MS));
      unref(timer);
      this.#stop = () => {
        clearTimeout(timer);
        this.#stop = null;
        resolve();
      };
    });
  }

  /** End the wait. */
  ring() {
    this.#stop?.();
  }
}

/**
 * Let a process end while a timer runs; the timers of other runtimes than Node are numbers.
 *
 * @param {unknown} timer
 */
function unref(timer) {
  const { unref: release } = /** @type {{unref?: () => void}} */ (Object(timer));
  release?.call(timer);
}
