/**
 * `npm run bench` installs the dependencies of the benchmarks and runs the named one, such as `-- lists`. The default
 * is `server`. Flags after the name go to the benchmark. `-- quick` runs the short form of every benchmark, `-- quick
 * lists` of one: it takes seconds and shows that the benchmark works, without meaningful figures. `benchmarks.json`
 * lists them with the flags of their short form. The tests run every short form, so that no benchmark breaks unnoticed.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fail, install, node, root } from './install.mjs';
import { installTools } from './tools.mjs';

/** @type {{ name: string, file: string, short: string }[]} */
const benchmarks = JSON.parse(readFileSync(join(root, 'bench', 'benchmarks.json'), 'utf8'));

install({ development: true });
installTools();

const words = process.argv.slice(2);
const isQuick = words[0] === 'quick';
if (isQuick) words.shift();
const name = words[0]?.startsWith('-') ? undefined : words.shift();
const chosen = benchmarks.filter((one) => one.name === (name ?? 'server') || (isQuick && name === undefined));
if (chosen.length === 0) {
  const names = benchmarks.map((one) => one.name).join(', ');
  fail(`There is no benchmark "${name}". Use one of ${names}, or "quick" for the short form of all.`);
}
for (const { file, short } of chosen) {
  const flags = isQuick ? [...short.split(' '), ...words] : words;
  const { status } = spawnSync(node, [join(root, file), ...flags], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
