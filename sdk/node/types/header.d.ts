/** The headers of responses whose body cannot hold an envelope, or with one. */
/**
 * Return the value of the header `Agent-Feedback`, or null if it would be too long.
 * @param {string} json the envelope
 * @returns {string | null}
 */
export declare function envelopeHeader(json: string): string | null;
/**
 * Return the value of the header `Link` of every response with an envelope.
 * @param {string} endpoint
 * @returns {string}
 */
export declare function discoveryLink(endpoint: string): string;
