/** `npm run bench`: installs what the benchmark needs and runs it. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { install, node, root } from './install.mjs';
import { installTools } from './tools.mjs';

install({ development: true });
installTools();
const done = spawnSync(node, [join(root, 'server', 'testing', 'bench.ts'), ...process.argv.slice(2)], {
  stdio: 'inherit',
});
process.exit(done.status ?? 1);
