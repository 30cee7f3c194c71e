/**
 * Runs inside a sandbox without network, before the app: passes the connections to a port of the sandbox's loopback on to a
 * Unix socket of the host. It closes its stdout once it listens; the start script waits for that.
 *
 * It is a separate process, because only a process within the network namespace can listen there.
 */
import { closeSync, openSync } from 'node:fs';
import { connect, createServer } from 'node:net';

const STDOUT_FD = 1;
const [socketPath = '', port = ''] = process.argv.slice(2);

createServer((client) => {
  const host = connect(socketPath);
  for (const [one, other] of [
    [client, host],
    [host, client],
  ] as const) {
    one.on('error', () => other.destroy());
    one.on('close', () => other.destroy());
  }
  client.pipe(host).pipe(client);
}).listen(Number(port), '127.0.0.1', () => {
  closeSync(STDOUT_FD);
  // Takes the free descriptor: libuv would not close a connection with the number of a standard stream.
  openSync('/dev/null', 'w');
});
