/** What the command line writes and reads: lines, JSON, errors and questions. */
/** The streams of a command. */
export declare class Terminal {
    #private;
    input: NodeJS.ReadableStream & {
        isTTY?: boolean;
    };
    output: NodeJS.WritableStream;
    errors: NodeJS.WritableStream & {
        isTTY?: boolean;
    };
    /** Whether a person can be asked. */
    isInteractive: boolean;
    /**
     * @param {object} streams
     * @param {NodeJS.ReadableStream & {isTTY?: boolean}} streams.input
     * @param {NodeJS.WritableStream} streams.output
     * @param {NodeJS.WritableStream & {isTTY?: boolean}} streams.errors
     */
    constructor({ input, output, errors }: {
        input: NodeJS.ReadableStream & {
            isTTY?: boolean;
        };
        output: NodeJS.WritableStream;
        errors: NodeJS.WritableStream & {
            isTTY?: boolean;
        };
    });
    /**
     * Write one line to standard output.
     *
     * @param {string} [text]
     */
    printLine(text?: string): void;
    /**
     * Write JSON to standard output.
     *
     * @param {unknown} content
     */
    printJson(content: unknown): void;
    /**
     * Write a message to standard error.
     *
     * @param {string} text
     */
    printError(text: string): void;
    /**
     * Ask the person at the terminal; anything but a clear yes is a no.
     *
     * @param {string} question
     */
    confirm(question: string): Promise<boolean>;
    /**
     * Resolve to whether the person at the terminal says yes or no, or to null for anything else.
     *
     * @param {string} question
     * @param {string} [answers]
     * @returns {Promise<boolean | null>}
     */
    ask(question: string, answers?: string): Promise<boolean | null>;
    /**
     * Let the process end although the person could say more.
     */
    close(): void;
}
/**
 * Return the text of a product or a service as one line without what would steer a terminal.
 *
 * @param {unknown} text
 */
export declare function printable(text: unknown): string;
/**
 * Return JSON without its credentials, of which only the beginning is shown.
 *
 * @param {unknown} content
 * @returns {unknown}
 */
export declare function redacted(content: unknown): unknown;
/**
 * Return why a server could not be reached, to be added to the message; empty if that is not known.
 *
 * @param {Error} error
 */
export declare function reasonOf(error: Error): string;
