/** A service on this machine that answers as a test says, and keeps what it was asked. */

import { once } from 'node:events';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';

/**
 * Start a service, which ends with the test.
 *
 * `answer` gets what was asked and returns `{status, headers, body, delayMs}`; null cuts the connection.
 * @param {{after(run: () => unknown): void}} context of the test
 * @param {(request: {method: string, path: string, headers: any, body: any}) => any} [answer]
 */
export async function startService(context, answer = () => ({})) {
  const requests = [];
  const server = createServer(async (request, response) => {
    const text = (await buffer(request)).toString();
    const { method, url: path, headers } = request;
    const asked = { method, path, headers, text, body: text ? parse(text) : null };
    requests.push(asked);
    const { status = 200, headers: extra = {}, body = {}, delayMs = 0 } = (await answer(asked)) ?? { status: null };
    if (status === null) {
      request.socket.destroy();
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, delayMs).unref());
    response.writeHead(status, { 'Content-Type': 'application/json', ...extra });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${server.address().port}`, requests, server };
}

/** Return the URL of a port at which nothing listens. */
export async function closedUrl() {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${port}`;
}

/** Wait until a condition holds; a test that waits for ever fails by its own time-out. */
export async function until(condition) {
  while (!condition()) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
