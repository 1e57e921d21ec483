/** Insert a script element into HTML where every parser reads it as one. */
/**
 * Return a page with a script element, or null where it is left alone.
 * @param {Uint8Array} body
 * @param {string} elementId
 * @param {string} json the element's content, in ASCII
 * @returns {Uint8Array | null}
 */
export declare function insertElement(body: Uint8Array, elementId: string, json: string): Uint8Array | null;
/**
 * Return the page with the script element at an offset.
 * @param {Uint8Array} body
 * @param {number} offset
 * @param {string} elementId
 * @param {string} json
 * @returns {Uint8Array}
 */
export declare function insertScript(body: Uint8Array, offset: number, elementId: string, json: string): Uint8Array;
/**
 * Find the place for an element with this id: before the first `</head>`, else the last `</body>`, else at the end.
 *
 * The offset is null in a page that has the id already (`isTaken`), or whose markup is ambiguous.
 * @param {Uint8Array} body
 * @param {string} elementId
 * @returns {{offset: number | null, isTaken: boolean}}
 */
export declare function findInsertion(body: Uint8Array, elementId: string): {
    offset: number | null;
    isTaken: boolean;
};
