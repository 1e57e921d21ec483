/** How commands end: the exit codes of `agent-feedback agent` and `agent-feedback doctor`. */
export declare const DONE = 0;
export declare const REFUSED = 1;
export declare const UNUSABLE = 2;
export declare const UNAVAILABLE = 3;
export declare const NO_ENVELOPE = 4;
export declare const NOT_CONFIRMED = 5;
export declare const STOPPED = 130;
export declare const PIPE_CLOSED = 141;
/** A command ends with this message and this exit code. */
export declare class Failure extends Error {
    exitCode: number;
    /**
     * @param {string} message
     * @param {number} exitCode
     */
    constructor(message: string, exitCode: number);
}
