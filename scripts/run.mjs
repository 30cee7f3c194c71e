/**
 * Installs missing dependencies and runs a file of the product: `run.mjs <file> [arguments]`. The commands of
 * package.json for operators use it.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { install, node, root } from './install.mjs';

const [file = '', ...rest] = process.argv.slice(2);
install({ development: false });
const done = spawnSync(node, [join(root, file), ...rest], { stdio: 'inherit' });
process.exit(done.status ?? 1);
