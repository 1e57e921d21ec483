/** The end of a process, or of a worker thread: queues are emptied before it, as far as that is possible. */

/** @typedef {{finishBeforeExit(): Promise<void>, abandon(): void}} Ending */

/** @type {Set<WeakRef<Ending>>} */
const queues = new Set();

/**
 * Have a queue emptied when the event loop has nothing left to do, and have its losses logged when the process ends.
 *
 * Other runtimes than Node have no such events; there the product calls `flush`.
 *
 * @param {Ending} queue
 */
export function watchProcessEnd(queue) {
  if (typeof globalThis.process?.on !== 'function') {
    return;
  }
  if (queues.size === 0) {
    globalThis.process.on('beforeExit', () => forEach((live) => void live.finishBeforeExit()));
    globalThis.process.on('exit', () => forEach((live) => live.abandon()));
  }
  queues.add(new WeakRef(queue));
}

/** @param {(queue: Ending) => void} visit */
function forEach(visit) {
  for (const reference of queues) {
    const queue = reference.deref();
    if (queue) {
      visit(queue);
    }
  }
}
