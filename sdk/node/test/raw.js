/** Requests of which every byte counts. */

import { once } from 'node:events';
import { connect } from 'node:net';

/**
 * Send raw bytes to a server and return all that it answers until it closes the connection.
 * @param {string} url
 * @param {string} text
 * @returns {Promise<string>} without the date
 */
export async function sendRaw(url, text) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.end(text);
  /** @type {Buffer[]} */
  const chunks = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.on('error', () => {});
  await once(socket, 'close');
  return Buffer.concat(chunks)
    .toString('latin1')
    .replace(/^Date: .*\r\n/gm, '');
}
