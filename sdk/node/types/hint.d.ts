/** Runtime hints: what a request says of the agent's software. */
/**
 * Return a callback's text, trimmed and cut; null where nothing is left, or it holds control characters.
 * @param {unknown} text
 * @returns {string | null}
 */
export declare function cleanHint(text: unknown): string | null;
/**
 * Return the product tokens of a User-Agent header up to its first contact address or URL.
 *
 * `ClaudeBot/1.0 (+https://…)` gives `ClaudeBot/1.0`. Within a comment only a name with a version is a product.
 * @param {unknown} userAgent
 * @returns {string | null}
 */
export declare function userAgentHint(userAgent: unknown): string | null;
