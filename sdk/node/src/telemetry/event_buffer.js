/** A list from which events are taken at the front and to which they are added at either end. */

/** The list is copied when as many taken events as this lie in front of it. */
const MAX_TAKEN = 1024;

/** @template T */
export class EventBuffer {
  /** @type {T[]} */
  #events = [];
  #start = 0;

  get length() {
    return this.#events.length - this.#start;
  }

  /** Return the first event, which stays. */
  first() {
    return this.#events[this.#start];
  }

  /** @param {T} event */
  push(event) {
    this.#events.push(event);
  }

  /** Take the first event. */
  shift() {
    const event = this.#events[this.#start];
    if (event !== undefined) {
      this.#start += 1;
    }
    if (this.#start >= MAX_TAKEN || this.#start === this.#events.length) {
      this.#events = this.#events.slice(this.#start);
      this.#start = 0;
    }
    return event;
  }

  /**
   * Put events in front of all others.
   *
   * @param {T[]} events
   */
  unshift(events) {
    this.#events = [...events, ...this.toArray()];
    this.#start = 0;
  }

  clear() {
    this.#events = [];
    this.#start = 0;
  }

  toArray() {
    return this.#events.slice(this.#start);
  }
}
