/** `npm run bench`: installs what the benchmark needs and runs it, or the part of it that is named first: `-- lists`. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { install, node, root } from './install.mjs';
import { installTools } from './tools.mjs';

install({ development: true });
installTools();
const [first = '', ...rest] = process.argv.slice(2);
const parts = new Map([
  ['lists', 'server/testing/bench-lists.ts'],
  ['payloads', 'server/testing/bench-payloads.ts'],
  ['followers', 'server/testing/bench-followers.ts'],
  ['experiments', 'server/testing/bench-experiments.ts'],
  ['load', 'server/testing/bench-load.ts'],
  ['backup', 'server/testing/bench-backup.ts'],
  ['compiled', 'runner/bench-compiled.ts'],
  ['site', 'site/testing/bench/bench.ts'],
]);
const part = parts.get(first);
const file = join(root, part ?? 'server/testing/bench.ts');
const done = spawnSync(node, [file, ...(part === undefined ? process.argv.slice(2) : rest)], {
  stdio: 'inherit',
});
process.exit(done.status ?? 1);
