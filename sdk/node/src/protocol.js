/** The protocol files: names, numbers and texts that every language shares. */

import contractFile from '../protocol/contract.json' with { type: 'json' };
import instructionsFile from '../protocol/instructions.json' with { type: 'json' };

/** @typedef {Record<string, any>} JsonObject */

/** Names and numbers. @type {JsonObject} */
export const contract = contractFile;

/** The texts that agents read. @type {JsonObject} */
export const instructions = instructionsFile;
