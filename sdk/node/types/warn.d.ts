/** Warnings, on standard error where there is one. */
/**
 * Print a warning.
 * @param {string} message
 */
export declare function warn(message: string): void;
/** Prints one warning of each kind: a product may have thousands of responses a second. */
export declare class WarnOnce {
    #private;
    /**
     * Print a warning, unless there was one of this kind.
     * @param {string} kind
     * @param {string} message
     */
    warn(kind: string, message: string): void;
}
/**
 * Return the kind of a thrown value; its message may hold data of the product.
 * @param {unknown} error
 * @returns {string}
 */
export declare function kindOf(error: unknown): string;
