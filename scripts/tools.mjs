/**
 * Tools of the tests that npm does not provide: a sandbox, a browser, and the checker of Prometheus. They are installed
 * where no confirmation is needed (root on a Debian-like system). Elsewhere, the tests that need them report that they skip.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './install.mjs';

const TOOLS = [
  { commands: ['bwrap'], package: 'bubblewrap', use: 'tests of containment level sandbox' },
  {
    commands: ['chromium', 'chromium-browser', 'google-chrome'],
    package: 'chromium',
    use: 'tests in a browser',
  },
];

/** Installs the missing tools. */
export function installTools() {
  if (process.platform !== 'linux') return;
  fetchPromtool();
  const missing = TOOLS.filter((tool) => !tool.commands.some(exists));
  if (missing.length === 0) return;
  if (process.getuid?.() !== 0 || !exists('apt-get')) {
    for (const tool of missing)
      console.log(
        `SKIPPING ${tool.use}: ${tool.commands[0]} is not installed and cannot be installed automatically.`,
      );
    return;
  }
  const packages = missing.map((tool) => tool.package);
  console.log(`Installing ${packages.join(' and ')} ...`);
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const quiet = /** @type {const} */ ({ stdio: ['ignore', 'ignore', 'inherit'], env: environment });
  spawnSync('apt-get', ['update', '-qq'], quiet);
  spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], quiet);
  for (const tool of missing.filter((one) => !one.commands.some(exists))) {
    console.log(`SKIPPING ${tool.use}: ${tool.package} could not be installed.`);
  }
}

/**
 * Extracts promtool alone from the package of Prometheus, whose installation would start a server. The test of the alert
 * rules reports that it skips without it.
 */
function fetchPromtool() {
  const path = join(root, '.cache', 'promtool');
  if (existsSync(path) || exists('promtool') || !exists('apt-get') || !exists('dpkg-deb')) return;
  console.log('Fetching promtool ...');
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-promtool-'));
  try {
    spawnSync('apt-get', ['download', '-qq', 'prometheus'], { cwd: folder, stdio: 'ignore' });
    const archive = readdirSync(folder).find((name) => name.endsWith('.deb'));
    if (archive === undefined) return;
    spawnSync('dpkg-deb', ['-x', archive, '.'], { cwd: folder, stdio: 'ignore' });
    const extracted = join(folder, 'usr', 'bin', 'promtool');
    if (!existsSync(extracted)) return;
    mkdirSync(join(root, '.cache'), { recursive: true });
    copyFileSync(extracted, path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} command */
function exists(command) {
  return spawnSync('sh', ['-c', `command -v ${command}`], { stdio: 'ignore' }).status === 0;
}
