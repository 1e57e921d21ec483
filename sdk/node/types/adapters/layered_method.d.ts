/** Methods of responses that several middlewares replace. */
/**
 * A method of a response which other middleware replaces too, such as one that compresses.
 *
 * What the product calls comes here first, and then to the replacements, the latest one first, as it would have without
 * this: whoever replaces the method calls the one that was there before.
 */
export declare class LayeredMethod {
    #private;
    /**
     * @param {any} response
     * @param {string} name
     */
    constructor(response: any, name: string);
    /**
     * Have a function called in place of the method.
     * @param {(...parameters: any[]) => any} receive
     */
    install(receive: (...parameters: any[]) => any): void;
    /**
     * Call the method with its replacements.
     * @param {any[]} parameters
     */
    apply(parameters: any[]): any;
}
