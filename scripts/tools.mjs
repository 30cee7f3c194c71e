/**
 * Tools of the tests that npm does not provide: a sandbox, a browser, and the checker of Prometheus. They are installed
 * where no confirmation is needed (root on a Debian-like system). Elsewhere, the tests that need them report that they skip.
 *
 * The browser is headless Chromium, a build without windows, where the system has it: its processes take a sixth less processor time,
 * and a start takes half a second instead of more than a second. Any other Chromium is used too.
 */
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from './install.mjs';

/**
 * @typedef {object} Tool
 * @property {string[]} commands Any of them will do; the first is the preferred one.
 * @property {string[]} packages The first has the preferred command. A system has one of them at least.
 * @property {string} use
 */

/** @type {Tool[]} */
const TOOLS = [
  { commands: ['bwrap'], packages: ['bubblewrap'], use: 'tests of containment level sandbox' },
  {
    commands: ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'],
    packages: ['chromium-headless-shell', 'chromium'],
    use: 'tests in a browser',
  },
];

/** Exists once the preferred tools were tried: a system without their packages is asked once. */
const stamp = join(root, '.cache', 'tried-tools');

/** Installs the missing tools. */
export function installTools() {
  if (process.platform !== 'linux') return;
  fetchPromtool();
  const missing = TOOLS.filter(isMissing);
  if (process.getuid?.() !== 0 || !exists('apt-get')) {
    for (const tool of missing)
      console.log(
        `SKIPPING ${tool.use}: ${tool.commands[0]} is not installed and cannot be installed automatically.`,
      );
    return;
  }
  if (missing.length > 0) runApt('update', '-qq');
  for (const tool of missing) {
    console.log(`Installing ${tool.packages.join(' or ')} ...`);
    if (!tool.packages.some(installPackage))
      console.log(`SKIPPING ${tool.use}: ${tool.packages[0]} could not be installed.`);
  }
  if (existsSync(stamp)) return;
  for (const { commands, packages } of TOOLS)
    if (!exists(commands[0] ?? '') && packages[0] !== undefined) installPackage(packages[0]);
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, '');
}

function isMissing(/** @type {Tool} */ { commands }) {
  return !commands.some(exists);
}

function installPackage(/** @type {string} */ name) {
  return runApt('install', '-y', '-qq', '--no-install-recommends', name) === 0;
}

/** Runs apt-get without questions; returns its exit code. */
function runApt(/** @type {string[]} */ ...args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return spawnSync('apt-get', args, { stdio: 'ignore', env }).status;
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
