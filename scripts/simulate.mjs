/** `npm run simulate` installs the dependencies of the simulation and runs it with the arguments after `--`. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { exitWithChild } from './child.mjs';
import { install, node, root } from './install.mjs';

install({ development: true });
exitWithChild(
  spawn(node, [join(root, 'simulation/main.ts'), ...process.argv.slice(2)], { stdio: 'inherit' }),
);
