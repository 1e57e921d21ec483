/** Which paths of a product carry envelopes. */
/** Path patterns: `*` is any number of characters other than `/`, `**` any number of characters. */
export declare class PathRules {
    #private;
    /**
     * @param {readonly string[]} include
     * @param {readonly string[]} exclude
     */
    constructor(include: readonly string[], exclude: readonly string[]);
    /**
     * Tell whether a path is included and not excluded.
     * @param {string} path
     * @returns {boolean}
     */
    covers(path: string): boolean;
}
