/**
 * Prints the test files that a change affects first, one a line: `npm test -- --affected` runs them. The argument is the
 * commit before the change, by default the last one; files without a commit count.
 */
import { execFileSync } from 'node:child_process';
import { findAffectedTests } from './affected-tests.ts';
import { collectPackages } from './packages.ts';
import { ROOT, readTextFiles } from './source-files.ts';

const [since = 'HEAD'] = process.argv.slice(2);

const git = (...args: string[]): string[] =>
  execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).split('\n').filter(Boolean);

const changed = [
  ...git('diff', '--name-only', '--relative', since),
  ...git('ls-files', '--others', '--exclude-standard'),
];
const sources = readTextFiles();
for (const path of findAffectedTests(sources, changed, collectPackages(sources))) console.log(path);
