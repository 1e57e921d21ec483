/** The signed interaction ids by which an agent's retry of an operation is recognised. */
export type SigningKey = {
    sign(message: Uint8Array): Uint8Array;
};
/** @typedef {{sign(message: Uint8Array): Uint8Array}} SigningKey */
/**
 * Return the method and the operation of a request, which its interaction id signs.
 *
 * @param {string} method
 * @param {string} path
 */
export declare function routeOf(method: string, path: string): string;
/**
 * Return a new interaction id whose last six bytes sign the others and the route.
 *
 * So every process of a company recognises the retry of the same operation without a store.
 *
 * @param {SigningKey} key
 * @param {string} route
 */
export declare function newSignedInteraction(key: SigningKey, route: string): string;
/**
 * Return the interaction id of these first bytes.
 *
 * @param {SigningKey} key
 * @param {string} route
 * @param {Uint8Array} head
 */
export declare function signedInteraction(key: SigningKey, route: string, head: Uint8Array): string;
/**
 * Tell whether an interaction id was made with this key for this route.
 *
 * @param {string} text
 * @param {SigningKey} key
 * @param {string} route
 */
export declare function isSignedInteraction(text: string, key: SigningKey, route: string): boolean;
