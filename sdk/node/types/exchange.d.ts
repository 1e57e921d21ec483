/** One request and its response. */
import { HeaderChanges } from './header_changes.js';
export type Instrumentation = import('./instrumentation.js').Instrumentation;
export type Modification = import('./instrumentation.js').Modification;
export type ResponseHead = import('./instrumentation.js').ResponseHead;
/** @typedef {import('./instrumentation.js').Instrumentation} Instrumentation */
/** @typedef {import('./instrumentation.js').Modification} Modification */
/** @typedef {import('./instrumentation.js').ResponseHead} ResponseHead */
/** One request and its response. Its methods never throw. */
export declare class Exchange {
    #private;
    request: import("./request.js").Request;
    slot: import("./context/slot.js").ContextSlot | null;
    maxBodyBytes: number;
    /** When the request began, on the clock of the wall. */
    startedAtMs: number;
    /**
     * @param {Instrumentation} instrumentation
     * @param {import('./request.js').Request} request
     * @param {import('./context/slot.js').ContextSlot | null} slot
     */
    constructor(instrumentation: Instrumentation, request: import('./request.js').Request, slot: import('./context/slot.js').ContextSlot | null);
    /**
     * Return the start of a response that may be changed, or null for one that passes untouched.
     * @param {number} statusCode
     * @param {import('./eligibility.js').HeaderPairs} pairs
     * @returns {ResponseHead | null}
     */
    readHead(statusCode: number, pairs: import('./eligibility.js').HeaderPairs): ResponseHead | null;
    /**
     * Return the changes of a response whose body is as the product made it.
     * @param {ResponseHead | null} head null where it is not eligible after all
     * @returns {HeaderChanges | null}
     */
    headerChanges(head: ResponseHead | null): HeaderChanges | null;
    /**
     * Return what a response becomes, or null; a promise only where the product has requested context.
     * @param {ResponseHead} head
     * @param {Uint8Array} body the whole body
     * @returns {Modification | null | Promise<Modification | null>}
     */
    modify(head: ResponseHead, body: Uint8Array): Modification | null | Promise<Modification | null>;
}
