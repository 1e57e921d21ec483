/** The context request of one HTTP request, from the product's code to the adapter that sends the response. */
export type CustomerReferences = {
    userRef?: string | null | undefined;
    accountRef?: string | null | undefined;
    anonymousRef?: string | null | undefined;
};
export type ContextRequest = CustomerReferences & {
    purpose: string;
    remember?: boolean | undefined;
    fieldKeys?: string[] | null | undefined;
    operation?: string | null | undefined;
};
export type HeaderLookup = (name: string) => string | null | undefined;
/** What is known and requested of one HTTP request. */
export declare class ContextSlot {
    method: string;
    path: string;
    mount: string;
    hasPrivacySignal: boolean;
    /**
     * What the product's code has requested.
     *
     * @type {ContextRequest | null}
     */
    contextRequest: ContextRequest | null;
    /**
     * The interaction that the request retries after its context request was answered.
     *
     * @type {string | null}
     */
    retriedInteraction: string | null;
    /**
     * @param {{method: string, path: string, mount: string, header: HeaderLookup}} request `path` includes the mount
     * @param {import('./interaction.js').SigningKey} key
     */
    constructor({ method, path, mount, header }: {
        method: string;
        path: string;
        mount: string;
        header: HeaderLookup;
    }, key: import('./interaction.js').SigningKey);
    /** The method and the operation of the request, which an interaction id signs. */
    get route(): string;
    /** Whether the response is made from one customer's context, so that no cache may have it. */
    get isRetry(): boolean;
    /**
     * Store a context request, unless it is anonymous and this request retries one, or the user objects to its purpose.
     *
     * @param {ContextRequest} contextRequest
     */
    fill(contextRequest: ContextRequest): void;
}
/**
 * Remember the slot of a request.
 *
 * @param {object} request
 * @param {ContextSlot} slot
 */
export declare function keepSlot(request: object, slot: ContextSlot): void;
/**
 * Return the slot of a request, or null; frameworks have the request that an adapter sees as a member of their own.
 *
 * @param {any} request
 * @returns {ContextSlot | null}
 */
export declare function findSlot(request: any): ContextSlot | null;
/**
 * Tell whether context for this purpose must not be used for a request.
 *
 * @param {any} request that of the product's framework, or null
 * @param {string} purpose
 */
export declare function isForbidden(request: any, purpose: string): boolean;
/**
 * Tell whether any reference is given.
 *
 * @param {CustomerReferences} references
 */
export declare function hasCustomer({ userRef, accountRef, anonymousRef }: CustomerReferences): boolean;
