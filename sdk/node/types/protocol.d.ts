/** The protocol files: names, numbers and texts that every language shares. */
export type JsonObject = Record<string, any>;
/** @typedef {Record<string, any>} JsonObject */
/** Names and numbers. @type {JsonObject} */
export declare const contract: JsonObject;
/** The texts that agents read. @type {JsonObject} */
export declare const instructions: JsonObject;
/** What a client does about each error code of the service. @type {JsonObject} */
export declare const errorCodes: JsonObject;
