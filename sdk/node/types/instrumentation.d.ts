/** Decides what becomes of each response of the product; the adapters read requests and write responses by it. */
import { Exchange } from './exchange.js';
import { Relay } from './relay.js';
import { HeaderChanges } from './header_changes.js';
export type Request = import('./request.js').Request;
export type ResponseHead = {
    statusCode: number;
    /**
     * by lower-case names
     */
    headers: Map<string, string>;
    kind: 'json' | 'html';
    /**
     * the declared length of the body
     */
    length: number | null;
    carriesEnvelope: boolean;
    /**
     * whether the body may be read and replaced, beside the headers
     */
    isModifiable: boolean;
    /**
     * those that the cache mode adds
     */
    addedHeaders: [string, string][];
};
export type Modification = {
    headers: HeaderChanges;
    /**
     * null where it stays
     */
    body: Uint8Array | null;
};
/**
 * The start of a response that may be changed.
 * @typedef {object} ResponseHead
 * @property {number} statusCode
 * @property {Map<string, string>} headers by lower-case names
 * @property {'json' | 'html'} kind
 * @property {number | null} length the declared length of the body
 * @property {boolean} carriesEnvelope
 * @property {boolean} isModifiable whether the body may be read and replaced, beside the headers
 * @property {[string, string][]} addedHeaders those that the cache mode adds
 */
/**
 * What a response becomes.
 * @typedef {object} Modification
 * @property {HeaderChanges} headers
 * @property {Uint8Array | null} body null where it stays
 */
/** The rules of one process. */
export declare class Instrumentation {
    #private;
    /** What agents answer to; null without a company key. */
    relay: Relay | null;
    /** Whether there is anything to do at all. */
    isActive: boolean;
    maxBodyBytes: number;
    /**
     * @param {import('./interaction.js').Services} services
     * @param {import('./callbacks.js').Callbacks} callbacks
     * @param {import('./context/index.js').CustomerContext} customerContext
     */
    constructor(services: import('./interaction.js').Services, callbacks: import('./callbacks.js').Callbacks, customerContext: import('./context/index.js').CustomerContext);
    /**
     * Begin with a request before the product sees it; null if its response passes untouched.
     * @param {Request} request
     * @returns {Exchange | null}
     */
    begin(request: Request): Exchange | null;
    /**
     * Return the start of a response that may be changed, or null for one that passes untouched.
     * @param {Exchange} exchange
     * @param {number} statusCode
     * @param {import('./eligibility.js').HeaderPairs} pairs
     * @returns {ResponseHead | null}
     */
    readHead({ request, slot }: Exchange, statusCode: number, pairs: import('./eligibility.js').HeaderPairs): ResponseHead | null;
    /**
     * Return what a response becomes, and record its interaction; null leaves it as the product made it.
     *
     * It is a promise only where the product has requested context.
     * @param {Exchange} exchange
     * @param {ResponseHead} head
     * @param {Uint8Array} body the whole body
     * @param {number} durationMs
     * @returns {Modification | null | Promise<Modification | null>}
     */
    modify({ request, slot, startedAtMs }: Exchange, head: ResponseHead, body: Uint8Array, durationMs: number): Modification | null | Promise<Modification | null>;
    /**
     * Warn once of each kind of error in a callback of the company, or in this package.
     * @param {unknown} error
     */
    warn(error: unknown): void;
}
export type Draft = {
    head: ResponseHead;
    shape: import('./delivery.js').Shape;
    operation: string;
    references: Record<string, string>;
    startedAtMs: number;
    durationMs: number;
};
