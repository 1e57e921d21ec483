/** The envelope in each of its states, made of the texts and bounds of the protocol files. */
export type JsonObject = import('./protocol.js').JsonObject;
export type EnvelopeFacts = {
    endpoint: string;
    capability: string;
    /**
     * seconds since 1970
     */
    expiresAt: number;
    mode: string;
    /**
     * whether the response belongs to a customer, so that a decision can be stored
     */
    hasCustomer: boolean;
    /**
     * the customer's consent decision as this process has cached it
     */
    decision: string;
    serviceName: string;
    reliability?: 'http' | 'mcp';
};
export type Envelope = JsonObject & {
    v: number;
    mode: string;
    state: string;
};
/**
 * Return the envelope, or null in the mode `off`, which has none.
 * @param {EnvelopeFacts} facts
 * @returns {Envelope | null}
 */
export declare function buildEnvelope(facts: EnvelopeFacts): Envelope | null;
/**
 * Return the envelope as compact JSON in ASCII, or null where there is none.
 *
 * Only the capability and its end differ between the responses of a product, so all the rest is encoded once.
 * @param {EnvelopeFacts} facts
 * @returns {string | null}
 */
export declare function encodeEnvelope(facts: EnvelopeFacts): string | null;
/**
 * Return JSON in which every character beyond ASCII is escaped: pages in other charsets hold it too.
 * @param {unknown} content
 * @returns {string}
 */
export declare function encodeAscii(content: unknown): string;
