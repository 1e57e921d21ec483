/** Methods of responses that several middlewares replace. */

/**
 * A method of a response which other middleware replaces too, such as one that compresses.
 *
 * What the product calls comes here first, and then to the replacements, the latest one first, as it would have without
 * this: whoever replaces the method calls the one that was there before.
 */
export class LayeredMethod {
  #response;
  #name;
  /** @type {((...parameters: any[]) => any)[]} */
  #layers;

  /**
   * @param {any} response
   * @param {string} name
   */
  constructor(response, name) {
    this.#response = response;
    this.#name = name;
    this.#layers = [response[name]];
  }

  /**
   * Have a function called in place of the method.
   * @param {(...parameters: any[]) => any} receive
   */
  install(receive) {
    const layers = this.#layers;
    // Whoever replaces the method has the entry of the layer below its own.
    const entryOf = (/** @type {number} */ depth) => {
      return (/** @type {any[]} */ ...parameters) =>
        depth === layers.length - 1 ? receive(...parameters) : this.#call(depth, parameters);
    };
    let entry = entryOf(0);
    Object.defineProperty(this.#response, this.#name, {
      configurable: true,
      enumerable: true,
      get: () => entry,
      set: (replacement) => {
        entry = entryOf(layers.push(replacement) - 1);
      },
    });
  }

  /**
   * Call the method with its replacements.
   * @param {any[]} parameters
   */
  apply(parameters) {
    return this.#call(this.#layers.length - 1, parameters);
  }

  /**
   * @param {number} depth
   * @param {any[]} parameters
   */
  #call(depth, parameters) {
    return this.#layers[depth].apply(this.#response, parameters);
  }
}
