/** Operations: the path of a request with its changing parts replaced. */
/**
 * Return the operation of a path: no query, `:id` for UUIDs, numbers and what may be a name or an address.
 * @param {string} path decoded text
 * @returns {string}
 */
export declare function normalizeOperation(path: string): string;
/**
 * Return an operation that a company's code has named, normalized, or null where the service would refuse it.
 * @param {unknown} name
 * @returns {string | null}
 */
export declare function normalizeNamedOperation(name: unknown): string | null;
