/** A service that records the requests which an SDK sends it, and answers as it is told. */

import { createServer } from 'node:http';

/**
 * Start a service; `answer` may be replaced.
 * @returns {Promise<{url: string, requests: any[], answer: Function, events: () => any[], lastTo: (path: string) => any, close: () => Promise<void>}>}
 */
export async function startService() {
  const service = {
    /** @type {any[]} */
    requests: [],
    answer: () => ({ status: 202, body: { accepted: 0, dropped: 0 } }),
    events: () => service.requests.flatMap(({ body }) => body.events ?? []),
    /** @param {string} path */
    lastTo: (path) => service.requests.findLast((request) => request.path === path),
  };
  const server = createServer(async (message, response) => {
    const text = Buffer.concat(await message.toArray()).toString();
    const request = {
      method: message.method,
      path: message.url,
      headers: message.headers,
      body: JSON.parse(text || '{}'),
    };
    service.requests.push(request);
    const { status, headers, body } = await service.answer(request);
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
  });
  const url = await listen(server);
  return Object.assign(service, { url, close: () => close(server) });
}

/**
 * Let a server listen on a free port and return its URL.
 * @param {import('node:net').Server} server
 * @returns {Promise<string>}
 */
export async function listen(server) {
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  return `http://127.0.0.1:${/** @type {any} */ (server.address()).port}`;
}

/**
 * Close a server and its connections.
 * @param {any} server
 */
export async function close(server) {
  server.closeAllConnections?.();
  await new Promise((resolve) => server.close(resolve));
}

export const KEY = `af_live_${'0123456789abcdef'.repeat(2)}_conformance_secret_0123456789abcdef`;
export const COMPANY_KEY = `af_company_${'0123456789abcdef'.repeat(2)}_conformance_company_secret_000000000000000001`;
