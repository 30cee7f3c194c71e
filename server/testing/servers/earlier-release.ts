/** The server of an earlier commit, for tests of upgrades. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BASELINE, migrations } from '../../ops/migrations.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
/** The packages that the server loads; an earlier commit may lack some of them. */
const PACKAGES = new Set(['contract', 'runner', 'server', 'solver-logs', 'worker']);
const ARCHIVE_BYTES_MAX = 256 * 1024 * 1024;

const runGit = (...args: string[]): string =>
  execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

/**
 * Returns the last commit without the newest migration of this code, so that an upgrade from it migrates the database; null
 * without the history, as in a shallow clone. Nothing is upgraded to the baseline, so without a later migration it is HEAD.
 */
export function findEarlierCommit(): string | null {
  const newest =
    migrations
      .map(({ name }) => name)
      .toSorted()
      .at(-1) ?? '';
  const adding = newest === BASELINE ? null : findAddingCommit(newest);
  return runGitOrNull('rev-parse', '--verify', `${adding === null ? 'HEAD' : `${adding}^`}^{commit}`);
}

/** Returns the first commit with the migration; null before it is committed, and without the history. */
export function findAddingCommit(migration: string): string | null {
  const commits = runGitOrNull('log', '--format=%H', `-S'${migration}'`, '--', 'server');
  return commits?.split('\n').at(-1) || null;
}

/** Returns true for code with its whole history, unlike an unpacked archive or a shallow clone. */
export const hasHistory = (): boolean => runGitOrNull('rev-parse', '--is-shallow-repository') === 'false';

function runGitOrNull(...args: string[]): string | null {
  try {
    return runGit(...args);
  } catch {
    return null;
  }
}

/** The code of a commit in a temporary folder. */
export interface EarlierRelease extends Disposable {
  /** The module that starts its server without a site. */
  readonly main: string;
}

/** Extracts the server of the commit. It uses the installed packages of this repository, and its own workspace packages. */
export function extractRelease(commit: string): EarlierRelease {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-earlier-'));
  const packages = runGit('ls-tree', '--name-only', commit)
    .split('\n')
    .filter((name) => PACKAGES.has(name));
  const archive = execFileSync('git', ['archive', commit, 'package.json', ...packages], {
    cwd: ROOT,
    maxBuffer: ARCHIVE_BYTES_MAX,
  });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, '@switchyard'), { recursive: true });
  for (const name of readdirSync(join(ROOT, 'node_modules')))
    if (name !== '@switchyard') symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  for (const name of packages) symlinkSync(join(folder, name), join(modules, '@switchyard', name));
  return {
    main: join(folder, 'server', 'testing', 'servers', 'server-without-site.ts'),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
