/** Insert members into the text of a JSON object without changing any other byte of it. */
/**
 * Return what the bytes hold as JSON, or undefined if they are no JSON in UTF-8.
 * @param {Uint8Array} body
 * @returns {unknown}
 */
export declare function parseJson(body: Uint8Array): unknown;
/**
 * Return an object's text with these as its last members, or null if the body is no JSON object.
 * @param {Uint8Array} body
 * @param {Record<string, string>} members names and their values, which are JSON
 * @returns {Uint8Array | null}
 */
export declare function spliceMembers(body: Uint8Array, members: Record<string, string>): Uint8Array | null;
/**
 * Return an object's text with these as its last members.
 * @param {Uint8Array} body the text of a JSON object, perhaps with white space around it
 * @param {Record<string, string>} members names and their values, which are JSON
 * @returns {Uint8Array}
 */
export declare function appendMembers(body: Uint8Array, members: Record<string, string>): Uint8Array;
/**
 * Return bytes with others inserted at an offset.
 * @param {Uint8Array} body
 * @param {number} offset
 * @param {Uint8Array} addition
 * @returns {Uint8Array}
 */
export declare function insertBytes(body: Uint8Array, offset: number, addition: Uint8Array): Uint8Array;
/**
 * @param {unknown} content
 * @returns {content is Record<string, unknown>} whether it is a JSON object
 */
export declare function isObject(content: unknown): content is Record<string, unknown>;
