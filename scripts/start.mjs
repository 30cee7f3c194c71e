/**
 * `npm start`: installs, builds the site, starts the server, and on the first start pushes the sample apps and shows a
 * finished run. Whatever is done already is not done again.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { fail, install, node, root } from './install.mjs';

const seconds = install({ development: false });
if (seconds > 0) console.log(`Installed in ${seconds.toFixed(0)} s.`);

if (process.env.SWITCHYARD_ROLE !== 'worker') {
  if (!existsSync(join(root, 'site', 'dist'))) console.log('Building the documentation site ...');
  const built = spawnSync(node, [join(root, 'site', 'build.ts')], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (built.status !== 0) fail('The documentation site could not be built; the messages above say why.');
}

const server = spawn(node, [join(root, 'server', 'process.ts')], {
  cwd: process.cwd(),
  stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
});
// Ctrl-C at a terminal reaches the server by itself too, which takes the second word for what it is. This process waits
// for it to drain. One that is killed cannot say anything; the server then notices that it is gone.
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
  process.on(signal, () => server.kill('SIGTERM'));
}
server.on('exit', (code, signal) => process.exit(code ?? 128 + (signal ? constants.signals[signal] : 0)));
server.once('message', (ready) => {
  const welcome = spawn(node, [join(root, 'cli', 'welcome.ts')], {
    cwd: process.cwd(),
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, SWITCHYARD_READY: JSON.stringify(ready) },
  });
  server.once('exit', () => welcome.kill());
});
