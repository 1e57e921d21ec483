/** Calls the company's callbacks for a request, and keeps what the service accepts. */
export type Request = import('./request.js').Request;
export type ReferenceTexts = {
    customerRef?: unknown;
    sessionRef?: unknown;
    runtimeHint?: unknown;
};
/**
 * What a company says of an interaction; what the service would refuse is left out.
 * @typedef {object} ReferenceTexts
 * @property {unknown} [customerRef]
 * @property {unknown} [sessionRef]
 * @property {unknown} [runtimeHint]
 */
/** The callbacks of one process; an unusable value of each is warned of once. */
export declare class Callbacks {
    #private;
    /** @param {import('./options.js').Options} options */
    constructor(options: import('./options.js').Options);
    /**
     * Tell whether the company wants an envelope in the response to this request.
     * @param {Request} request
     * @returns {boolean}
     */
    shouldInstrument(request: Request): boolean;
    /**
     * Return the operation of a request: the callback's if the service would take it, or else that of the path.
     * @param {Request} request
     * @returns {string}
     */
    operation(request: Request): string;
    /**
     * Return an operation that the company has named, or that of the path where the service would refuse it.
     * @param {unknown} name
     * @param {string} path
     * @returns {string}
     */
    namedOperation(name: unknown, path: string): string;
    /**
     * Return what the callbacks say of a request, by telemetry's names.
     * @param {Request} request
     * @returns {Record<string, string>}
     */
    references(request: Request): Record<string, string>;
    /**
     * Return references and a hint by telemetry's names, without what the service would refuse.
     * @param {ReferenceTexts} texts
     * @returns {Record<string, string>}
     */
    members(texts: ReferenceTexts): Record<string, string>;
}
