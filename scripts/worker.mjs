/** `npm run worker` installs and starts a worker of a server elsewhere. It needs neither the site nor the console. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { exitWithChild } from './child.mjs';
import { install, node, root } from './install.mjs';

install({ development: false });
const worker = spawn(node, [join(root, 'worker', 'process.ts'), ...process.argv.slice(2)], {
  cwd: process.env.INIT_CWD ?? process.cwd(),
  stdio: 'inherit',
});
exitWithChild(worker);
