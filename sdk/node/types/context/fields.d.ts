/** The company's own catalog of fields. */
export type CallOptions = import('./client.js').CallOptions;
export type JsonObject = import('./client.js').JsonObject;
export type FieldDefinition = {
    label: string;
    /**
     * the category
     */
    type: string;
    allowedValues: string[];
    targetedAdvertisingSafe?: boolean;
    operations?: string[];
    enabled?: boolean;
};
/**
 * @typedef {import('./client.js').CallOptions} CallOptions
 * @typedef {import('./client.js').JsonObject} JsonObject
 */
/**
 * @typedef {object} FieldDefinition a field of the company's own; what is left out has the default of the service
 * @property {string} label
 * @property {string} type the category
 * @property {string[]} allowedValues
 * @property {boolean} [targetedAdvertisingSafe]
 * @property {string[]} [operations]
 * @property {boolean} [enabled]
 */
/** The company's own fields, which replace the built-in catalog. Scripts that manage them use `raiseErrors`. */
export declare class ContextFields {
    #private;
    /**
     * @param {import('./client.js').ContextClient} client
     * @param {string} path
     */
    constructor(client: import('./client.js').ContextClient, path: string);
    /**
     * Create or replace a field, and resolve to it.
     *
     * @param {string} key
     * @param {FieldDefinition} definition
     * @param {CallOptions} [options]
     * @returns {Promise<JsonObject | null>}
     */
    put(key: string, definition: FieldDefinition, options?: CallOptions): Promise<JsonObject | null>;
    /**
     * Resolve to the fields, and whether the built-in catalog is still in use.
     *
     * @param {CallOptions} [options]
     * @returns {Promise<JsonObject | null>}
     */
    list(options?: CallOptions): Promise<JsonObject | null>;
    /**
     * Remove a field, and resolve to its last definition; requests that contain it keep it.
     *
     * @param {string} key
     * @param {CallOptions} [options]
     * @returns {Promise<JsonObject | null>}
     */
    delete(key: string, options?: CallOptions): Promise<JsonObject | null>;
}
