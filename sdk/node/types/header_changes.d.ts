/** The changes of a response's headers. */
/** Headers to set and to remove. */
export declare class HeaderChanges {
    #private;
    /**
     * Names as they are written, and values.
     * @type {Map<string, string>}
     */
    values: Map<string, string>;
    /**
     * Lower-case names.
     * @type {Set<string>}
     */
    removed: Set<string>;
    /** @param {Map<string, string>} headers those of the product, by lower-case names */
    constructor(headers: Map<string, string>);
    /**
     * Set a header in place of the product's.
     * @param {string} name
     * @param {string} value
     */
    set(name: string, value: string): void;
    /**
     * Add a value to a header that is a list, unless it has it already.
     * @param {string} name
     * @param {string} value
     */
    add(name: string, value: string): void;
    /**
     * Add several values.
     * @param {[string, string][]} headers
     */
    addAll(headers: [string, string][]): void;
    /** Keep the response out of caches. */
    makePrivate(): void;
    /**
     * Say the length of another body; what described the bytes of the product's own goes.
     * @param {Uint8Array | null} body null where it stays
     */
    replaceBody(body: Uint8Array | null): void;
}
