/**
 * `npm run chaos` installs the dependencies of the chaos test and runs it with the arguments after `--`. `npm run chaos --
 * slurm` runs the test on a Slurm cluster.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { exitWithChild } from './child.mjs';
import { install, node, root } from './install.mjs';
import { installTools } from './tools.mjs';

install({ development: true });
installTools();
const words = process.argv.slice(2);
const isSlurm = words[0] === 'slurm';
if (isSlurm) words.shift();
const main = join(root, isSlurm ? 'chaos/slurm/main.ts' : 'chaos/main.ts');
// This process waits until the child has cleaned up.
exitWithChild(spawn(node, [main, ...words], { stdio: 'inherit' }));
