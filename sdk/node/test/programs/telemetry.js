/**
 * Puts events in a process, a worker thread or a cluster worker, as its argument says, and ends by itself.
 *
 * `plain` puts one event and ends; `thread` and `cluster` put one in each of two others and one here; `exit` calls
 * `process.exit` at once.
 */

import cluster from 'node:cluster';
import process from 'node:process';
import { Worker, isMainThread } from 'node:worker_threads';
import { fileURLToPath } from 'node:url';

import { readOptions } from '../../src/options.js';
import { TelemetryQueue } from '../../src/telemetry/queue.js';

const kind = process.argv[2];
const queue = new TelemetryQueue(readOptions({ flushInterval: 60_000, timeout: 1000 }));
queue.put({ from: isMainThread && cluster.isPrimary ? 'main' : 'other' });

if (kind === 'thread' && isMainThread) {
  for (let count = 0; count < 2; count += 1) {
    new Worker(fileURLToPath(import.meta.url), { argv: [kind] });
  }
} else if (kind === 'cluster' && cluster.isPrimary) {
  for (let count = 0; count < 2; count += 1) {
    cluster.fork();
  }
} else if (kind === 'cluster') {
  cluster.worker.disconnect();
} else if (kind === 'exit') {
  process.exit();
}
