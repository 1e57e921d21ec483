/** The tools of a person's own agent, and the envelopes that they may act on. */
export type Received = import('../agent/index.js').Received;
export type JsonObject = Record<string, any>;
/** The tools, by the names of the protocol. */
export declare class AgentTools {
    #private;
    /** @param {string[]} allowedOrigins */
    constructor(allowedOrigins: string[]);
    /**
     * Call a tool.
     *
     * @param {string} name
     * @param {JsonObject} values
     * @returns {Promise<JsonObject>}
     */
    call(name: string, values: JsonObject): Promise<JsonObject>;
}
