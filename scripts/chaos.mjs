/**
 * `npm run chaos` installs the dependencies of the chaos test and runs it with the arguments after `--`. `npm run chaos -- slurm`
 * runs the one on a Slurm cluster.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { install, node, root } from './install.mjs';
import { installTools } from './tools.mjs';

install({ development: true });
installTools();
const words = process.argv.slice(2);
const folder = words[0] === 'slurm' ? join('chaos', 'slurm') : 'chaos';
if (words[0] === 'slurm') words.shift();
const chaos = spawn(node, [join(root, folder, 'main.ts'), ...words], { stdio: 'inherit' });
// Ctrl-C at a terminal also signals the child directly, which treats the duplicate as one signal. This process waits
// until the child has cleaned up.
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
  process.on(signal, () => chaos.kill('SIGTERM'));
}
chaos.on('exit', (code, signal) => process.exit(code ?? 128 + (signal ? constants.signals[signal] : 0)));
