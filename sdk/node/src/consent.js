/**
 * The cache of customers' consent decisions: the response path reads memory only.
 *
 * A miss returns an unknown decision at once, and the service is asked in the background for the next response.
 */

import { HttpClient } from './http/client.js';
import { contract } from './protocol.js';

const {
  maxSubjects: MAX_SUBJECTS,
  maxRefreshes: MAX_REFRESHES,
  undecidedTtlMs: UNDECIDED_TTL_MS,
  pauseMs: PAUSE_MS,
} = contract.consentCache;

const STATES = ['unknown', 'approved', 'declined'];

/** The key does not become valid by asking. */
const UNAUTHORIZED_PAUSE_MS = contract.telemetry.unauthorizedPauseMs;

/**
 * @typedef {object} CachedDecision
 * @property {string} state `unknown`, `approved` or `declined`
 * @property {number} revision
 * @property {number} expiresAt on the monotonic clock
 */

/** @type {CachedDecision} */
export const UNKNOWN = Object.freeze({ state: 'unknown', revision: 0, expiresAt: 0 });

/**
 * @typedef {object} ConsentOptions
 * @property {{reveal(): string}} apiKey
 * @property {string} endpoint
 * @property {number} timeout
 * @property {number} consentCacheSize
 * @property {number} consentCacheTtl
 */

/** The decisions that this process has cached, at most `consentCacheSize`. */
export class ConsentCache {
  #options;
  #http;
  /**
   * The least recently used one first.
   *
   * @type {Map<string, CachedDecision>}
   */
  #decisions = new Map();
  /** @type {Set<string>} subjects that no request asks for yet */
  #pending = new Set();
  /** @type {Set<string>} subjects that a request asks for */
  #refreshing = new Set();
  /** @type {Set<Promise<void>>} */
  #requests = new Set();
  #isScheduled = false;
  /** Until when nobody is asked after a failure, on the monotonic clock. */
  #pausedUntil = 0;

  /** @param {ConsentOptions} options */
  constructor(options) {
    this.#options = options;
    this.#http = new HttpClient(options.endpoint);
  }

  /**
   * Return the cached decision of a subject, expired or unknown as it may be, and refresh it if it is.
   *
   * @param {string} subject
   * @returns {CachedDecision}
   */
  find(subject) {
    const decision = this.#decisions.get(subject) ?? UNKNOWN;
    if (decision !== UNKNOWN) {
      this.#decisions.delete(subject);
      this.#decisions.set(subject, decision);
    }
    if (decision.expiresAt <= performance.now()) {
      this.#refresh(subject);
    }
    return decision;
  }

  /** Wait until no decision is being asked for, as is needed where a process is frozen after its response. */
  async settle() {
    await Promise.resolve();
    while (this.#requests.size > 0) {
      await Promise.all(this.#requests);
    }
  }

  /** @param {string} subject */
  #refresh(subject) {
    // Beyond the bound a miss is forgotten, and the next one asks again.
    const isFull = this.#pending.size >= this.#options.consentCacheSize;
    if (this.#refreshing.has(subject) || isFull || performance.now() < this.#pausedUntil) {
      return;
    }
    this.#pending.add(subject);
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      // Misses of the same moment share a request.
      queueMicrotask(() => {
        this.#isScheduled = false;
        this.#startRequests();
      });
    }
  }

  #startRequests() {
    while (this.#pending.size > 0 && this.#requests.size < MAX_REFRESHES) {
      const request = this.#ask(this.#takePending()).then(() => {
        this.#requests.delete(request);
        this.#startRequests();
      });
      this.#requests.add(request);
    }
  }

  /** Return the next subjects to ask for. */
  #takePending() {
    const subjects = [...this.#pending].slice(0, MAX_SUBJECTS);
    for (const subject of subjects) {
      this.#pending.delete(subject);
      this.#refreshing.add(subject);
    }
    return subjects;
  }

  /**
   * Ask for subjects; a failure changes nothing, and for a moment nobody is asked.
   *
   * @param {string[]} subjects
   */
  async #ask(subjects) {
    try {
      const response = await this.#http.request({
        method: 'POST',
        path: contract.paths.consentState,
        body: JSON.stringify({ subjects }),
        headers: { Authorization: `Bearer ${this.#options.apiKey.reveal()}` },
        timeoutMs: this.#options.timeout,
      });
      if (response.status === 200) {
        this.#store(subjects, /** @type {any} */ (response.json()));
      } else {
        this.#pause(response.status === 401 ? UNAUTHORIZED_PAUSE_MS : PAUSE_MS);
      }
    } catch {
      this.#pause(PAUSE_MS);
    } finally {
      for (const subject of subjects) {
        this.#refreshing.delete(subject);
      }
    }
  }

  /** @param {number} milliseconds */
  #pause(milliseconds) {
    this.#pausedUntil = performance.now() + milliseconds;
    this.#pending.clear();
  }

  /**
   * @param {string[]} subjects
   * @param {{subjects: any[]}} content
   */
  #store(subjects, content) {
    const now = performance.now();
    const ttl = this.#options.consentCacheTtl;
    const answers = new Map(content.subjects.filter(isDecision).map((entry) => [entry.subject, entry]));
    for (const subject of subjects) {
      const { state, revision } = answers.get(subject) ?? UNKNOWN;
      const expiresAt = now + (state === 'unknown' ? Math.min(ttl, UNDECIDED_TTL_MS) : ttl);
      this.#decisions.delete(subject);
      this.#decisions.set(subject, { state, revision, expiresAt });
    }
    for (const subject of this.#decisions.keys()) {
      if (this.#decisions.size <= this.#options.consentCacheSize) {
        break;
      }
      this.#decisions.delete(subject);
    }
  }
}

/**
 * Tell whether an entry of an answer is a decision that can be used.
 *
 * @param {any} entry
 */
function isDecision(entry) {
  return STATES.includes(entry?.state) && Number.isSafeInteger(entry.revision) && entry.revision >= 0;
}
