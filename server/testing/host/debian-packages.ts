/** Programs that tests install from the packages of Debian where they are missing. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const TIMEOUT_MS = 5 * 60_000;

/** Installs the packages when a program, given by its path, is missing. Returns null, or the reason why it could not. */
export async function installDebianPackages(
  packages: readonly string[],
  programs: readonly string[],
): Promise<string | null> {
  if (programs.every((path) => existsSync(path))) return null;
  if (process.getuid?.() !== 0)
    return `the tests do not run as root, so they cannot install ${packages.join(', ')}.`;
  if (!existsSync('/usr/bin/apt-get'))
    return `this system is no Debian or Ubuntu. Install ${packages.join(', ')} by hand.`;
  try {
    await runAptGet('update', '--quiet');
    await runAptGet('install', '--yes', '--quiet', '--no-install-recommends', ...packages);
    return null;
  } catch (error) {
    return `apt-get could not install ${packages.join(', ')}: ${String(error).split('\n').at(0)}`;
  }
}

/** Test files run side by side, and a second apt-get fails while another holds the lists. Services must not start. */
async function runAptGet(...args: string[]): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const lock = join(tmpdir(), 'switchyard-apt-get.lock');
  await run('flock', [lock, 'apt-get', ...args], { env, timeout: TIMEOUT_MS });
}
