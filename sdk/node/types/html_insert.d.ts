/** Insert a script element into HTML where every parser reads it as one. */
export type Page = {
    /**
     * before the first `</head>`, else the last `</body>`, else at the end
     */
    offset: number;
    /**
     * those that its elements have
     */
    ids: Set<string>;
};
/**
 * A page to which script elements can be added.
 * @typedef {object} Page
 * @property {number} offset before the first `</head>`, else the last `</body>`, else at the end
 * @property {Set<string>} ids those that its elements have
 */
/**
 * Return a page with a script element, or null where it is left alone.
 * @param {Uint8Array} body
 * @param {string} elementId
 * @param {string} json the element's content
 * @returns {Uint8Array | null}
 */
export declare function insertElement(body: Uint8Array, elementId: string, json: string): Uint8Array | null;
/**
 * Return the page with script elements at an offset.
 * @param {Uint8Array} body
 * @param {number} offset
 * @param {Record<string, string>} contents JSON by the ids of the elements
 * @returns {Uint8Array}
 */
export declare function insertScripts(body: Uint8Array, offset: number, contents: Record<string, string>): Uint8Array;
/**
 * Read a page; null where it is empty, not of ASCII-compatible bytes, or its markup is ambiguous.
 * @param {Uint8Array} body
 * @returns {Page | null}
 */
export declare function readPage(body: Uint8Array): Page | null;
