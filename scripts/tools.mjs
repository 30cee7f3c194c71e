/**
 * Tools of the tests that npm does not provide: a sandbox and a browser. They are installed where no confirmation is
 * needed (root on a Debian-like system). Elsewhere, the tests that need them report that they skip.
 */
import { spawnSync } from 'node:child_process';

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

/** @param {string} command */
function exists(command) {
  return spawnSync('sh', ['-c', `command -v ${command}`], { stdio: 'ignore' }).status === 0;
}
