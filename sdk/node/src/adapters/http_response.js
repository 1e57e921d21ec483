/** Responses of Node's servers, which are held until it is clear what they become. */

import { asBuffer, hasChunk, readChunk, readHeadParameters, readStart } from './http_parameters.js';
import { LayeredMethod } from './layered_method.js';

/** @typedef {[string, any[]]} Call the name of a method, and its parameters */
/** @typedef {import('../exchange.js').Exchange} Exchange */
/** @typedef {import('../instrumentation.js').Modification} Modification */
/** @typedef {import('../instrumentation.js').ResponseHead} ResponseHead */

const METHODS = ['writeHead', 'write', 'end', 'flushHeaders'];
/** Methods that fail once the product has sent the headers, as it may believe while they are held. */
const HEADER_METHODS = ['setHeader', 'setHeaders', 'appendHeader', 'removeHeader'];
/** Headers of a response that has more than a body: it passes untouched. */
const FRAMING_HEADERS = ['transfer-encoding', 'trailer'];

/**
 * Hold a response until it is complete, or known to pass untouched.
 * @param {any} response
 * @param {Exchange} exchange
 */
export function holdResponse(response, exchange) {
  const methods = Object.fromEntries(METHODS.map((name) => [name, new LayeredMethod(response, name)]));
  const held = new HeldResponse(response, exchange, methods);
  for (const name of METHODS) {
    methods[name].install((/** @type {any[]} */ ...parameters) => held.call(name, parameters));
  }
}

/** One response. Once it is released, every call goes to the methods that it had before. */
class HeldResponse {
  #response;
  #exchange;
  #methods;
  #isReleased = false;
  #isEnding = false;
  /**
   * The parameters of the product's `writeHead`.
   * @type {any[] | null}
   */
  #headParameters = null;
  /**
   * Undefined as long as the headers may change.
   * @type {ResponseHead | null | undefined}
   */
  #head;
  /** @type {Buffer[]} */
  #chunks = [];
  #size = 0;
  /**
   * What the product calls while its ended response waits.
   * @type {Call[]}
   */
  #laterCalls = [];
  /**
   * The properties that the response had itself, by the names of those that stand in for them.
   * @type {Map<string, PropertyDescriptor | undefined>}
   */
  #standIns = new Map();

  /**
   * @param {any} response
   * @param {Exchange} exchange
   * @param {Record<string, LayeredMethod>} methods
   */
  constructor(response, exchange, methods) {
    this.#response = response;
    this.#exchange = exchange;
    this.#methods = methods;
  }

  /**
   * Receive a call of the product.
   * @param {string} name
   * @param {any[]} parameters
   */
  call(name, parameters) {
    if (this.#isReleased) {
      return this.#callMethod([name, parameters]);
    }
    if (this.#isEnding) {
      this.#laterCalls.push([name, parameters]);
      return name === 'write' ? true : this.#response;
    }
    switch (name) {
      case 'writeHead':
        return this.#writeHead(parameters);
      case 'write':
        return this.#write(parameters);
      case 'end':
        return this.#end(parameters);
      default:
        return this.#pass([name, parameters]);
    }
  }

  /** @param {any[]} parameters */
  #writeHead(parameters) {
    if (this.#head !== undefined) {
      // A second time: the response itself knows what is wrong with it.
      return this.#pass(['writeHead', parameters]);
    }
    this.#headParameters = parameters;
    if (this.#readHead() === null) {
      this.#headParameters = null;
      return this.#passHead(parameters);
    }
    this.#standIn();
    return this.#response;
  }

  /** @param {any[]} parameters */
  #write(parameters) {
    const head = this.#readHead();
    const { chunk, callback } = readChunk(parameters);
    if (head === null || head.length === null || chunk === null || this.#size + chunk.length > head.length) {
      return this.#pass(['write', parameters]);
    }
    this.#standIn();
    // The product may use its buffer again once this returns.
    this.#chunks.push(Buffer.from(chunk));
    this.#size += chunk.length;
    if (callback) {
      // The product may wait for it before it writes on.
      process.nextTick(callback);
    }
    return true;
  }

  /** @param {any[]} parameters */
  #end(parameters) {
    const head = this.#readHead();
    const { chunk, callback } = readChunk(hasChunk(parameters) ? parameters : ['', ...parameters]);
    const size = this.#size + (chunk?.length ?? 0);
    if (head === null || chunk === null || size > this.#exchange.maxBodyBytes) {
      return this.#pass(['end', parameters]);
    }
    const body = this.#chunks.length > 0 ? Buffer.concat([...this.#chunks, chunk]) : chunk;
    const modification = this.#exchange.modify(head, body);
    if (modification instanceof Promise) {
      this.#isEnding = true;
      this.#standIn();
      modification.then((result) => this.#finishLater(result, parameters, callback));
      return this.#response;
    }
    return this.#finish(modification, parameters, callback);
  }

  /**
   * @param {Modification | null} modification
   * @param {any[]} parameters those of the product's `end`
   * @param {Function | undefined} callback
   */
  #finish(modification, parameters, callback) {
    if (!modification?.body) {
      return this.#release(modification?.headers ?? null, ['end', parameters]);
    }
    this.#chunks = [];
    return this.#release(modification.headers, ['end', [asBuffer(modification.body), callback]]);
  }

  /**
   * @param {Modification | null} modification
   * @param {any[]} parameters
   * @param {Function | undefined} callback
   */
  #finishLater(modification, parameters, callback) {
    try {
      this.#finish(modification, parameters, callback);
      this.#laterCalls.forEach((call) => this.#callMethod(call));
    } catch (error) {
      // What the response says of the product's own call, such as an invalid header; its caller is gone.
      this.#response.destroy(error);
    }
  }

  /**
   * Return the start of the response, or null if it passes untouched.
   * @returns {ResponseHead | null}
   */
  #readHead() {
    if (this.#head === undefined) {
      const { status, pairs } = readStart(this.#response, this.#headParameters);
      const isFramed = pairs.some(([name]) => FRAMING_HEADERS.includes(name.toLowerCase()));
      this.#head = isFramed ? null : this.#exchange.readHead(status, pairs);
    }
    return this.#head;
  }

  /**
   * Let the response pass as the product made it, beginning with this call.
   * @param {Call} call
   */
  #pass(call) {
    return this.#release(this.#exchange.headerChanges(null), call);
  }

  /** @param {any[]} parameters of a `writeHead` */
  #passHead(parameters) {
    const changes = this.#exchange.headerChanges(null);
    if (changes === null) {
      return this.#release(null, ['writeHead', parameters]);
    }
    this.#headParameters = parameters;
    return this.#release(changes, ['writeHead', [readHeadParameters(parameters).status]]);
  }

  /**
   * Send what was held, and let all calls pass, beginning with this one.
   * @param {import('../header_changes.js').HeaderChanges | null} changes
   * @param {Call} call
   */
  #release(changes, call) {
    this.#isReleased = true;
    this.#removeStandIns();
    if (changes !== null) {
      this.#changeHead(changes);
    } else if (this.#headParameters !== null) {
      this.#callMethod(['writeHead', this.#headParameters]);
    }
    this.#chunks.forEach((chunk) => this.#callMethod(['write', [chunk]]));
    this.#chunks = [];
    return this.#callMethod(call);
  }

  /**
   * Set the changed headers, which leave with the response's next call.
   * @param {import('../header_changes.js').HeaderChanges} changes
   */
  #changeHead(changes) {
    const response = this.#response;
    if (this.#headParameters !== null) {
      const { status, reason, headers } = readHeadParameters(this.#headParameters);
      response.statusCode = status;
      if (reason !== null) {
        response.statusMessage = reason;
      }
      headers.forEach(({ name, value }) => response.setHeader(name, value));
    }
    changes.removed.forEach((name) => response.removeHeader(name));
    changes.values.forEach((value, name) => response.setHeader(name, value));
  }

  /** @param {Call} call */
  #callMethod([name, parameters]) {
    return this.#methods[name].apply(parameters);
  }

  /** Let the response look as it would if its headers, or its end, were not held. */
  #standIn() {
    this.#define('headersSent', { get: () => true });
    for (const name of HEADER_METHODS) {
      this.#define(name, { value: refuseHeader });
    }
    if (this.#isEnding) {
      this.#define('writableEnded', { get: () => true });
      this.#define('finished', { get: () => true });
    }
  }

  /**
   * @param {string} name
   * @param {PropertyDescriptor} descriptor
   */
  #define(name, descriptor) {
    if (!this.#standIns.has(name)) {
      this.#standIns.set(name, Object.getOwnPropertyDescriptor(this.#response, name));
      Object.defineProperty(this.#response, name, { configurable: true, ...descriptor });
    }
  }

  #removeStandIns() {
    for (const [name, descriptor] of this.#standIns) {
      delete this.#response[name];
      if (descriptor) {
        Object.defineProperty(this.#response, name, descriptor);
      }
    }
    this.#standIns.clear();
  }
}

/** @returns {never} */
function refuseHeader() {
  const error = new Error('Cannot set headers after they are sent to the client');
  throw Object.assign(error, { code: 'ERR_HTTP_HEADERS_SENT' });
}
