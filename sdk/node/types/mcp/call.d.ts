/** One call of a business tool, from its start to the result with the envelope. */
export type CallFacts = {
    operation: string;
    /**
     * by telemetry's names
     */
    references: Record<string, string>;
    /**
     * of the SDK
     */
    extra: any;
    hasOutputSchema: boolean;
    /**
     * of the protocol, null if unknown
     */
    version: string | null;
    warn: (error: unknown) => void;
};
/**
 * @typedef {object} CallFacts
 * @property {string} operation
 * @property {Record<string, string>} references by telemetry's names
 * @property {any} extra of the SDK
 * @property {boolean} hasOutputSchema
 * @property {string | null} version of the protocol, null if unknown
 * @property {(error: unknown) => void} warn
 */
/** A call of a business tool. */
export declare class ToolCall {
    #private;
    /**
     * @param {any} feedback
     * @param {CallFacts} facts
     */
    constructor(feedback: any, facts: CallFacts);
    /**
     * Run the tool and resolve to its result, with the envelope; an exception of the tool is thrown unchanged.
     *
     * @param {() => any} runTool
     */
    run(runTool: () => any): Promise<any>;
}
