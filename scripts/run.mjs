/**
 * Installs what is missing and runs a file of the product, for the commands of package.json that an operator uses beside a
 * server: `run.mjs <file> [arguments]`.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { install, node, root } from './install.mjs';

const [file = '', ...rest] = process.argv.slice(2);
install({ development: false });
const done = spawnSync(node, [join(root, file), ...rest], { stdio: 'inherit' });
process.exit(done.status ?? 1);
