/** The SDK beside a service that records, for the tests of the file that imports this, and servers that end with a test. */

import { createServer } from 'node:http';
import { after, afterEach, before } from 'node:test';
import { AgentFeedback } from '../src/index.js';
import { COMPANY_KEY, KEY, close, listen, startService } from './recording_service.js';

export const GET = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

export let service;
export let feedback;

/** What is called after each test, in this order. */
export const cleanups = [];

before(async () => {
  service = await startService();
  feedback = new AgentFeedback({ apiKey: KEY, endpoint: service.url, companyKey: COMPANY_KEY, contextTimeout: 5000 });
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) {
    await cleanup();
  }
});
after(async () => {
  await feedback.shutdown();
  await service.close();
});

/** Serve a listener and return its URL. */
export async function serve(listener, create = createServer) {
  const server = create(listener);
  cleanups.push(() => close(server));
  return listen(server);
}

/** Serve a listener of the product with the SDK around it, and return its URL. */
export function serveProduct(listener) {
  return serve(feedback.http(listener));
}
