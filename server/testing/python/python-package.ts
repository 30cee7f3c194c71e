/**
 * Packages from the Python Package Index, for tests and tools that check the server with published programs. Each has a
 * virtual environment in the git-ignored `.cache/`, with the exact versions of its list in this folder. It is installed
 * again when that list changes. No package is part of the product.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const TOOLS = join(import.meta.dirname, '..', '..', '..', '.cache', 'tools');
const LISTS = import.meta.dirname;
const PYTHON_MINOR_MIN = 11;
const INSTALL_TIMEOUT_MS = 10 * 60_000;
const CONNECT_TIMEOUT_SECONDS = 20;

export interface PythonPackage {
  /** Path of the interpreter that can import the package. */
  readonly interpreterPath: string;
  /** Folder of the installed packages, for PYTHONPATH. */
  readonly packagesPath: string;
  /** Returns the path of a command of the package. */
  commandPath(name: string): string;
}

/**
 * Installs the package whose versions `<name>.txt` lists, unless it is installed. The error message says what is missing:
 * Python, or access to the index.
 */
export async function installPythonPackage(name: string): Promise<PythonPackage> {
  const list = join(LISTS, `${name}.txt`);
  const version = createHash('sha256').update(readFileSync(list)).digest('hex').slice(0, 12);
  const folder = join(TOOLS, `${name}-${version}`);
  if (!existsSync(folder)) await install(list, folder);
  const bin = join(folder, 'bin');
  const [packagesPath = ''] = globSync(join(folder, 'lib', 'python*', 'site-packages'));
  return {
    interpreterPath: join(bin, 'python'),
    packagesPath,
    commandPath: (command) => join(bin, command),
  };
}

/** A virtual environment cannot be moved, so each installation has its own folder, and a link to the finished one gets the name. */
async function install(list: string, folder: string): Promise<void> {
  const python = await findPython();
  mkdirSync(TOOLS, { recursive: true });
  const environment = `${folder}-${process.pid}`;
  rmSync(environment, { recursive: true, force: true });
  try {
    await run(python, ['-m', 'venv', environment]);
    const quiet = ['--quiet', '--disable-pip-version-check', '--no-input'];
    const timeouts = ['--retries', '1', '--timeout', String(CONNECT_TIMEOUT_SECONDS)];
    // Wheels only: building a package would run its code. No bytecode for thousands of modules, of which tests import a few:
    // it takes 7 of 13 seconds of processor time.
    await run(
      join(environment, 'bin', 'pip'),
      ['install', '--no-compile', ...quiet, ...timeouts, '--only-binary', ':all:', '--no-deps', '-r', list],
      { timeout: INSTALL_TIMEOUT_MS },
    );
  } catch (error) {
    rmSync(environment, { recursive: true, force: true });
    const output = error instanceof Error && 'stderr' in error ? error.stderr : error;
    const reason = String(output).trim().split('\n').at(-1);
    throw new Error(`The Python packages of ${list} cannot be installed: ${reason}`);
  }
  const link = `${environment}.link`;
  rmSync(link, { force: true });
  symlinkSync(environment, link);
  renameSync(link, folder);
}

async function findPython(): Promise<string> {
  const program = 'import sys; print(sys.version_info[0], sys.version_info[1])';
  for (const name of ['python3', 'python']) {
    const found = await run(name, ['-c', program]).catch(() => null);
    const [major, minor] = (found?.stdout ?? '').trim().split(' ').map(Number);
    if (major === 3 && (minor ?? 0) >= PYTHON_MINOR_MIN) return name;
  }
  throw new Error(`python3 of version 3.${PYTHON_MINOR_MIN} or newer is not installed: install it.`);
}
