/** The parameters that the methods of Node's responses take in several forms. */
export type HeadHeaders = Map<string, {
    name: string;
    value: any;
}>;
/** @typedef {Map<string, {name: string, value: any}>} HeadHeaders headers by lower-case names */
/**
 * Return the parameters of `writeHead`.
 * @param {any[]} parameters
 * @returns {{status: number, reason: string | null, headers: HeadHeaders}}
 */
export declare function readHeadParameters([status, second, third]: any[]): {
    status: number;
    reason: string | null;
    headers: HeadHeaders;
};
/**
 * Return status and headers of a response that is about to start.
 * @param {any} response
 * @param {any[] | null} headParameters
 * @returns {{status: number, pairs: [string, unknown][]}}
 */
export declare function readStart(response: any, headParameters: any[] | null): {
    status: number;
    pairs: [string, unknown][];
};
/**
 * Tell whether the parameters of `end` have something to write.
 * @param {any[]} parameters
 */
export declare function hasChunk([chunk]: any[]): boolean;
/**
 * Return the parameters of `write` or `end`; the chunk is null where it is none that a response takes.
 * @param {any[]} parameters
 * @returns {{chunk: Buffer | null, callback: (() => void) | undefined}}
 */
export declare function readChunk([chunk, ...others]: any[]): {
    chunk: Buffer | null;
    callback: (() => void) | undefined;
};
/**
 * Return bytes as a buffer, without copying them.
 * @param {Uint8Array} bytes
 * @returns {Buffer}
 */
export declare function asBuffer(bytes: Uint8Array): Buffer;
