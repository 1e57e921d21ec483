/** How commands end: the exit codes of `agent-feedback agent` and `agent-feedback doctor`. */

export const DONE = 0;
export const REFUSED = 1;
export const UNUSABLE = 2;
export const UNAVAILABLE = 3;
export const NO_ENVELOPE = 4;
export const NOT_CONFIRMED = 5;
export const STOPPED = 130;
export const PIPE_CLOSED = 141;

/** A command ends with this message and this exit code. */
export class Failure extends Error {
  /**
   * @param {string} message
   * @param {number} exitCode
   */
  constructor(message, exitCode) {
    super(message);
    this.exitCode = exitCode;
  }
}
