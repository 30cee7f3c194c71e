/**
 * `npm start` installs, builds the site, the console and the command line, and starts the server. On the first start it
 * pushes the sample apps and shows a finished run. It skips steps that are already done.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { buildAll } from './build.mjs';
import { exitWithChild } from './child.mjs';
import { install, node, root } from './install.mjs';

const seconds = install({ development: false });
if (seconds > 0) console.log(`Installed in ${seconds.toFixed(0)} s.`);

if (process.env.SWITCHYARD_ROLE !== 'worker') buildAll();

const server = spawn(node, [join(root, 'server', 'process.ts')], {
  cwd: process.cwd(),
  stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
});
// This process waits for the server to drain. A SIGKILL cannot be forwarded; the server then notices that its parent is gone.
exitWithChild(server);
server.once('message', (ready) => {
  const welcome = spawn(node, [join(root, 'cli', 'first-run', 'welcome.ts')], {
    cwd: process.cwd(),
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...trustServer(ready), SWITCHYARD_READY: JSON.stringify(ready) },
  });
  server.once('exit', () => welcome.kill());
});

/**
 * Returns the settings with which a process on this machine can connect to the server. A certificate of the operator names
 * the public host and not the address of this machine, so its name cannot be verified; the connection never leaves the
 * machine.
 */
function trustServer(/** @type {any} */ { url, authorityPath }) {
  if (authorityPath) return { NODE_EXTRA_CA_CERTS: authorityPath };
  if (!url.startsWith('https:')) return {};
  return { NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_NO_WARNINGS: '1' };
}
