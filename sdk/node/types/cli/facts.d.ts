/** What there is to say of an envelope, by name. */
/**
 * Return the facts of an envelope.
 *
 * @param {string} place
 * @param {import('../agent/index.js').Received} received
 * @param {Record<string, any> | null} introspection
 * @returns {[string, unknown][]}
 */
export declare function facts(place: string, { content, state, serviceOrigin, question }: import('../agent/index.js').Received, introspection: Record<string, any> | null): [string, unknown][];
