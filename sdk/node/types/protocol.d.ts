/** The protocol files: names, numbers and texts that every language shares. */
export type JsonObject = Record<string, any>;
/** @typedef {Record<string, any>} JsonObject */
/** Names and numbers. @type {JsonObject} */
export declare const contract: JsonObject;
/** The texts that agents read. @type {JsonObject} */
export declare const instructions: JsonObject;
