/** The company's own catalog of fields. */

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
export class ContextFields {
  #client;
  #path;

  /**
   * @param {import('./client.js').ContextClient} client
   * @param {string} path
   */
  constructor(client, path) {
    this.#client = client;
    this.#path = path;
  }

  /**
   * Create or replace a field, and resolve to it.
   *
   * @param {string} key
   * @param {FieldDefinition} definition
   * @param {CallOptions} [options]
   * @returns {Promise<JsonObject | null>}
   */
  put(key, definition, options = {}) {
    return this.#call({ method: 'PUT', path: this.#fieldPath(key), body: definition }, options);
  }

  /**
   * Resolve to the fields, and whether the built-in catalog is still in use.
   *
   * @param {CallOptions} [options]
   * @returns {Promise<JsonObject | null>}
   */
  list(options = {}) {
    return this.#call({ method: 'GET', path: this.#path }, options);
  }

  /**
   * Remove a field, and resolve to its last definition; requests that contain it keep it.
   *
   * @param {string} key
   * @param {CallOptions} [options]
   * @returns {Promise<JsonObject | null>}
   */
  delete(key, options = {}) {
    return this.#call({ method: 'DELETE', path: this.#fieldPath(key) }, options);
  }

  /**
   * @param {import('./client.js').ContextCall} call
   * @param {CallOptions} options
   * @returns {Promise<JsonObject | null>}
   */
  #call(call, options) {
    return this.#client.call(call, asAnswered, null, options);
  }

  /** @param {string} key */
  #fieldPath(key) {
    return `${this.#path}/${encodeURIComponent(key)}`;
  }
}

/**
 * @param {JsonObject} content
 * @returns {JsonObject | null}
 */
function asAnswered(content) {
  return content;
}
