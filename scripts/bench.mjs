/** `npm run bench`: installs what the benchmark needs and runs it, or the part of it that is named first: `-- lists`. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { install, node, root } from './install.mjs';
import { installTools } from './tools.mjs';

install({ development: true });
installTools();
const [first = '', ...rest] = process.argv.slice(2);
const isPart = ['lists', 'payloads', 'followers'].includes(first);
const file = join(root, 'server', 'testing', isPart ? `bench-${first}.ts` : 'bench.ts');
const done = spawnSync(node, [file, ...(isPart ? rest : process.argv.slice(2))], {
  stdio: 'inherit',
});
process.exit(done.status ?? 1);
