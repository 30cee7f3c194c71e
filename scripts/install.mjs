/**
 * Installs the dependencies of the lock file if necessary, with any Node (20 or newer) and npm, and returns the path of
 * the project's own Node. It imports only Node's own modules, because it runs before the installation.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, 'node_modules', '.switchyard-installed');

/** The project's own Node. */
export const node = join(root, 'node_modules', '.bin', 'node');

// The compile cache of Node applies to all child processes: a server starts in 0.6 s instead of 1.1 s, its launcher in
// a fifth of the time.
process.env.NODE_COMPILE_CACHE ??= join(root, '.cache', 'compiled');

/**
 * Installs; does nothing when the lock file has not changed since.
 * @param {{ development: boolean }} wanted `development`: what the tests need too.
 * @returns {number} Seconds it took; 0 when there was nothing to do.
 */
export function install({ development }) {
  const major = Number(process.versions.node.split('.')[0]);
  if (major < 20)
    fail(`This is Node ${process.versions.node}; Switchyard needs Node 20 or newer to install its own.`);
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  const [installed, kind] = existsSync(stamp) ? readFileSync(stamp, 'utf8').trim().split(' ') : [];
  // Once installed, the test tools stay: `npm start` and `npm run worker` would otherwise remove them under a running test.
  const isDevelopment = development || kind === 'development';
  if (installed === lock && (kind === 'development' || !isDevelopment) && existsSync(node)) return 0;

  console.log(`Installing dependencies${isDevelopment ? ' and test tools' : ''} ...`);
  const begin = Date.now();
  const npm = process.env.npm_execpath;
  const [command, first] = npm?.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []];
  // Not `npm ci`: it refuses a lock file that lacks packages for other platforms, which registry mirrors do not all
  // carry. `npm install` uses the versions of the lock file too; its changes to the file are reverted.
  const lockPath = join(root, 'package-lock.json');
  const lockText = readFileSync(lockPath);
  const flags = [
    'install',
    '--no-fund',
    '--no-audit',
    '--loglevel=error',
    ...(isDevelopment ? [] : ['--omit=dev']),
  ];
  const done = spawnSync(command, [...first, ...flags], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  writeFileSync(lockPath, lockText);
  if (done.status !== 0) fail('npm install failed; see its messages above.');
  if (!existsSync(node))
    fail(
      `npm has no Node for ${process.platform} on ${process.arch}; Switchyard runs on Linux and macOS, x64 and arm64.`,
    );
  writeFileSync(stamp, `${lock} ${isDevelopment ? 'development' : 'production'}\n`);
  return (Date.now() - begin) / 1000;
}

/** @param {string} sentence @returns {never} */
export function fail(sentence) {
  console.error(sentence);
  process.exit(1);
}
