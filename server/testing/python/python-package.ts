/**
 * Packages from the Python Package Index, for tests and tools that hold the server against other people's programs. A
 * package lives in a virtual environment of its own in the git-ignored `.cache/`, with the exact versions that its list in
 * `python/` names, and is used again until that list changes. Nothing of it is part of the product.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const TOOLS = join(import.meta.dirname, '..', '..', '..', '.cache', 'tools');
const LISTS = import.meta.dirname;
const PYTHON_MINOR_MIN = 11;
const INSTALL_MS_MAX = 10 * 60_000;
const CONNECT_SECONDS_MAX = 20;

export interface PythonPackage {
  /** The interpreter that has the package. */
  readonly interpreterPath: string;
  /** Path of a command the package brings. */
  commandPath(name: string): string;
}

/**
 * The package whose versions `python/<name>.txt` lists, installed if it is not yet. Throws with a sentence that says what
 * is missing: Python itself, or the way to the index.
 */
export async function installPythonPackage(name: string): Promise<PythonPackage> {
  const list = join(LISTS, `${name}.txt`);
  const version = createHash('sha256').update(readFileSync(list)).digest('hex').slice(0, 12);
  const place = join(TOOLS, `${name}-${version}`);
  if (!existsSync(place)) await install(list, place);
  const bin = join(place, 'bin');
  return { interpreterPath: join(bin, 'python'), commandPath: (command) => join(bin, command) };
}

/** An environment cannot be moved, so each installation has a place of its own and the finished one gets the name. */
async function install(list: string, place: string): Promise<void> {
  const python = await findPython();
  mkdirSync(TOOLS, { recursive: true });
  const own = `${place}-${process.pid}`;
  rmSync(own, { recursive: true, force: true });
  try {
    await run(python, ['-m', 'venv', own]);
    const quiet = ['--quiet', '--disable-pip-version-check', '--no-input'];
    const patience = ['--retries', '1', '--timeout', String(CONNECT_SECONDS_MAX)];
    // Wheels only: building a package would run its code. No bytecode for thousands of modules, of which tests import a few:
    // it takes 7 of 13 seconds of processor time.
    await run(
      join(own, 'bin', 'pip'),
      ['install', '--no-compile', ...quiet, ...patience, '--only-binary', ':all:', '--no-deps', '-r', list],
      { timeout: INSTALL_MS_MAX },
    );
  } catch (error) {
    rmSync(own, { recursive: true, force: true });
    const told = String((error as { stderr?: string }).stderr ?? error).trim();
    throw new Error(`The Python packages of ${list} cannot be installed: ${told.split('\n').at(-1)}`);
  }
  const link = `${own}.link`;
  rmSync(link, { force: true });
  symlinkSync(own, link);
  renameSync(link, place);
}

async function findPython(): Promise<string> {
  const program = 'import sys; print(sys.version_info[0], sys.version_info[1])';
  for (const name of ['python3', 'python']) {
    const found = await run(name, ['-c', program]).catch(() => null);
    const [major, minor] = (found?.stdout ?? '').trim().split(' ').map(Number);
    if (major === 3 && (minor ?? 0) >= PYTHON_MINOR_MIN) return name;
  }
  throw new Error(`There is no python3 of version 3.${PYTHON_MINOR_MIN} or newer here.`);
}
