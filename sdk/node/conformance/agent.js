/** The agent of the conformance suite: reads a JSON command a line, and prints a JSON result a line. */

import { createInterface } from 'node:readline';

import { ServiceRefused, ServiceUnavailable, discover, fetchPage, fromResponse } from 'agent-feedback/agent';

const LOOPBACK_HOSTS = ['127.0.0.1', 'localhost', '[::1]'];

/** What was fetched last, and what may be done with it. */
class Session {
  #page = null;
  #received = null;
  #allowedOrigins = null;

  #verbs = {
    fetch: (command) => this.#fetch(command),
    discover: () => this.#discover(),
    introspect: () => this.#envelope().introspect(),
    decide: ({ decision }) => this.#envelope().decide(decision),
    submit_outcome: ({ outcome, note }) => this.#envelope().submitOutcome(outcome, note),
    submit_report: ({ report }) => this.#envelope().submitReport(report),
    answer: ({ items, status }) => this.#envelope().answer(items, { status: status ?? undefined }),
  };

  /** Do what a command says, and resolve to its result. */
  async do(line) {
    try {
      const command = JSON.parse(line);
      const body = await this.#verbs[command.do](command);
      const state = this.#received?.content.state ?? null;
      return { ok: true, state, question: this.#received?.question ?? null, body: body ?? null };
    } catch (error) {
      return failure(error);
    }
  }

  async #fetch({ url, headers, allowedOrigins = null }) {
    this.#page = this.#received = null;
    const page = await fetchPage(url, { headers });
    if (page.status >= 500) {
      throw new ServiceUnavailable(`the product answered with status ${page.status}`);
    }
    if (page.status >= 300) {
      throw new ServiceRefused(page.status);
    }
    this.#page = page;
    this.#allowedOrigins = allowedOrigins;
    return this.#receive((origins) => fromResponse(page, { allowedOrigins: origins }));
  }

  async #discover() {
    if (this.#page === null) {
      throw new TypeError('nothing was fetched');
    }
    const page = this.#page;
    return this.#receive((origins) => discover(page, { allowedOrigins: origins }));
  }

  /** Keep what was received, and return its envelope. */
  async #receive(read) {
    const received = await read(this.#allowedOrigins ?? []);
    if (received && this.#allowedOrigins === null) {
      loopbackOrigins(received).forEach((origin) => received.allow(origin));
    }
    this.#received = received;
    return received && Object.keys(received.content).length ? received.content : null;
  }

  #envelope() {
    if (this.#received === null) {
      throw new TypeError('the last response has no envelope');
    }
    return this.#received;
  }
}

/** Return the service that an envelope names if it is on this machine: allowed where a command names no origins. */
function loopbackOrigins({ serviceOrigin }) {
  return serviceOrigin && LOOPBACK_HOSTS.includes(new URL(serviceOrigin).hostname) ? [serviceOrigin] : [];
}

/** Return the result of a command that has failed. */
function failure(error) {
  const { message } = error;
  if (error instanceof ServiceRefused) {
    return { ok: false, error: 'refused', status: error.status, code: error.code, message };
  }
  const kind = error instanceof ServiceUnavailable ? 'unavailable' : 'invalid';
  return { ok: false, error: kind, message };
}

const session = new Session();
for await (const line of createInterface({ input: process.stdin })) {
  if (line.trim()) {
    process.stdout.write(`${JSON.stringify(await session.do(line))}\n`);
  }
}
