/** The observation of an HTTP request: the fixed list of members that are sent to the service. */
export type RequestFacts = {
    /**
     * the peer's address as the product's server has it: a product behind a
     * proxy sets it from the headers that it trusts
     */
    clientIp: string | null | undefined;
    method: string;
    header: (name: string) => string | null | undefined;
};
/**
 * @typedef {object} RequestFacts
 * @property {string | null | undefined} clientIp the peer's address as the product's server has it: a product behind a
 *   proxy sets it from the headers that it trusts
 * @property {string} method
 * @property {(name: string) => string | null | undefined} header
 */
/**
 * Return the observation of a request, without members that are missing or malformed.
 *
 * @param {RequestFacts} request
 * @returns {Record<string, string>}
 */
export declare function observe({ clientIp, method, header }: RequestFacts): Record<string, string>;
