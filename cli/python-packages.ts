/**
 * The Python packages that `python.pip-requirements` of a manifest names, installed for the server's host and packed as a
 * gzip tar of `.nextmv/python/deps/`, as the published client does it. A packed set is used again while requirements and
 * target are the same.
 */
import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import {
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import type { ReportLine } from './build.ts';
import { MANIFEST_FILE_NAME, type PythonSettings } from './manifest.ts';
import { formatArchitecture, formatTarget, type Target } from './target.ts';

export const PACKAGES_FOLDER = '.nextmv/python/deps';

const CACHE =
  process.env.SWITCHYARD_PACKAGE_CACHE || join(import.meta.dirname, '..', '.cache', 'python-packages');
/** Sets of packages that are kept; those that were not used for longest are removed. */
const MAX_CACHED_SETS = 20;
const INSTALL_MS_MAX = 15 * 60_000;
const PROBE_MS_MAX = 20_000;
/** Version of Python where neither the server nor the manifest says, as in the published client. */
const DEFAULT_PYTHON = '3.11';
/** Level 4 takes a third of the time of the default, for 3 % more bytes of wheels. */
const GZIP_LEVEL = 4;
/** The same packages are the same bytes, so that the server stores them once. */
const ENTRY_TIME = new Date('1980-01-01T00:00:00Z');
const ERROR_LINES_MAX = 30;

/** The description stored with a packed set. */
interface PackedSet {
  /** Such as `numpy 2.4.6`. */
  packages: string[];
  bytes: number;
  packedAt: string;
}

/** Path of the packed packages; undefined when the requirements are empty. Throws with what to do about it. */
export async function packPythonPackages(
  folder: string,
  settings: PythonSettings,
  target: Target,
  report: ReportLine,
): Promise<string | undefined> {
  const requirements = await readRequirements(folder, settings.requirements);
  if (requirements.isEmpty) return undefined;
  const python = target.python || settings.version || DEFAULT_PYTHON;
  noteDifferences(settings, target, python, report);
  const identity = JSON.stringify([1, requirements.text, formatTarget(target), python]);
  const key = requirements.isCacheable
    ? createHash('sha256').update(identity).digest('hex').slice(0, 24)
    : randomUUID();
  const packed = join(CACHE, `${key}.tar.gz`);
  const known = requirements.isCacheable ? await readSet(packed) : undefined;
  if (known) {
    report(
      `Python packages: ${measureSize(known)}, as installed on ${known.packedAt.slice(0, 10)} for the same requirements; delete ${CACHE} to get newer ones.`,
    );
    return packed;
  }
  const installer = await findInstaller(target, python, requirements.name);
  report(
    `Installing the Python packages of ${requirements.name} for ${formatTarget(target)}, Python ${python}, with ${installer.name}.`,
  );
  const scratch = await mkdtemp(join(tmpdir(), 'switchyard-packages-'));
  try {
    const place = join(scratch, 'deps');
    await mkdir(place);
    await installer.install(folder, requirements, scratch, place);
    const set = await packFolder(place, packed);
    report(`Python packages: ${measureSize(set)}: ${set.packages.join(', ')}.`);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
  await evictOldSets();
  return packed;
}

function noteDifferences(settings: PythonSettings, target: Target, python: string, report: ReportLine): void {
  if (settings.arch !== undefined && settings.arch !== formatArchitecture(target))
    report(
      `python.arch is ${settings.arch}; the server runs ${formatTarget(target)}, so packages for ${formatArchitecture(target)} are installed.`,
    );
  if (settings.version !== undefined && settings.version !== python)
    report(
      `python.version is ${settings.version}; the server runs Python ${python}, so packages for ${python} are installed.`,
    );
}

interface Requirements {
  /** As the manifest names them. */
  name: string;
  text: string;
  /** Path for `-r`; absent when they are written to a file first. */
  path?: string;
  isEmpty: boolean;
  /** Names of packages only; files that the requirements refer to may change without them. */
  isCacheable: boolean;
  hasSources: boolean;
}

async function readRequirements(folder: string, names: string | string[]): Promise<Requirements> {
  const name = typeof names === 'string' ? names : `python.pip-requirements in ${MANIFEST_FILE_NAME}`;
  const path = typeof names === 'string' ? resolve(folder, names) : undefined;
  const text =
    path === undefined
      ? `${(names as string[]).join('\n')}\n`
      : await readFile(path, 'utf8').catch(() => {
          throw new Error(
            `python.pip-requirements of ${join(folder, MANIFEST_FILE_NAME)} names ${JSON.stringify(names)}, which is no file there.`,
          );
        });
  if (path !== undefined && basename(path) === 'pyproject.toml')
    return { name, text, path, isEmpty: false, isCacheable: !/file:|path\s*=/.test(text), hasSources: false };
  const lines = text
    .split('\n')
    .map((line) => line.replace(/(^|\s)#.*$/, '').trim())
    .filter(Boolean);
  const refers = lines.some((line) => /^-(r|c|f|-requirement|-constraint|-find-links)\b/.test(line));
  // A path, an address or a repository: its content may change, and it may have to be built.
  const hasSources = lines.some(
    (line) => /^(-e|--editable)\b|^[./]|@\s|:\/\//.test(line) && !/^--/.test(line),
  );
  return {
    name,
    text: lines.join('\n'),
    ...(path === undefined ? {} : { path }),
    isEmpty: lines.length === 0,
    isCacheable: !refers && !hasSources,
    hasSources,
  };
}

interface Installer {
  name: string;
  /** `scratch` is a folder for files of its own, `place` gets the packages. */
  install(folder: string, requirements: Requirements, scratch: string, place: string): Promise<void>;
}

/**
 * Finds uv, or pip if it fits. uv resolves for any system and any version of Python. In contrast, pip resolves conditions
 * such as `sys_platform` for its own machine and Python, so it is used only if those are the server's.
 */
async function findInstaller(target: Target, python: string, name: string): Promise<Installer> {
  const uv = await firstThatWorks([['uv'], ['python3', '-m', 'uv'], ['python', '-m', 'uv']]);
  if (uv) return uvInstaller(uv, target, python);
  const pip = await firstThatWorks([
    ['python3', '-m', 'pip'],
    ['python', '-m', 'pip'],
  ]);
  const remedy =
    'Install uv (`python3 -m pip install uv`, or see https://docs.astral.sh/uv/) and push again, or remove python.pip-requirements if the app needs no packages.';
  if (!pip)
    throw new Error(
      `The app needs the Python packages of ${name}, and this machine has neither uv nor Python with pip to get them. ${remedy}`,
    );
  const own = await readPythonVersion(pip[0] ?? '');
  const isSame = process.platform === target.platform && process.arch === target.architecture;
  if (!isSame || own !== python)
    throw new Error(
      `The app needs the Python packages of ${name} for ${formatTarget(target)} with Python ${python}, as the server has them; the pip of this machine is for ${process.platform}-${process.arch} with Python ${own}. ${remedy}`,
    );
  return pipInstaller(pip);
}

function uvInstaller(uv: string[], target: Target, python: string): Installer {
  return {
    name: 'uv',
    async install(folder, requirements, scratch, place) {
      const file = requirements.path ?? (await writtenTo(scratch, requirements.text));
      const requested = ['--python-platform', uvPlatform(target), '--python-version', python];
      await installWith([...uv, 'pip', 'install', ...requested], { folder, requirements, file, place });
    },
  };
}

function pipInstaller(pip: string[]): Installer {
  return {
    name: 'pip',
    async install(folder, requirements, scratch, place) {
      const path = requirements.path;
      const file =
        path === undefined
          ? await writtenTo(scratch, requirements.text)
          : basename(path) === 'pyproject.toml'
            ? await writtenTo(scratch, await dependenciesOfProject(pip[0] ?? '', path))
            : path;
      const quiet = ['--no-compile', '--disable-pip-version-check', '--no-input'];
      await installWith([...pip, 'install', ...quiet], { folder, requirements, file, place });
    },
  };
}

async function installWith(
  command: string[],
  {
    folder,
    requirements,
    file,
    place,
  }: { folder: string; requirements: Requirements; file: string; place: string },
): Promise<void> {
  // Wheels only: a package built here is built for this machine. Explicitly named sources have to be built.
  const wheels = requirements.hasSources ? [] : ['--only-binary', ':all:'];
  const all = [...command, '--quiet', ...wheels, '--target', place, '-r', file];
  const { code, output } = await run(all, folder, INSTALL_MS_MAX);
  if (code === 0) return;
  const lines = output.trim().split('\n').slice(-ERROR_LINES_MAX).join('\n');
  throw new Error(`The Python packages of ${requirements.name} cannot be installed:\n${lines}`);
}

/** The platforms of the published client: Linux with glibc 2.34 or newer. */
function uvPlatform(target: Target): string {
  const machine = target.architecture === 'x64' ? 'x86_64' : 'aarch64';
  return target.platform === 'darwin' ? `${machine}-apple-darwin` : `${machine}-manylinux_2_34`;
}

const PROJECT_DEPENDENCIES = `
import sys
try:
    import tomllib
except ImportError:
    from pip._vendor import tomli as tomllib
with open(sys.argv[1], "rb") as file:
    print("\\n".join(tomllib.load(file)["project"]["dependencies"]))
`;

async function dependenciesOfProject(python: string, path: string): Promise<string> {
  const { code, output } = await run([python, '-c', PROJECT_DEPENDENCIES, path], '/', PROBE_MS_MAX);
  if (code === 0) return output;
  throw new Error(
    `${path} has no list project.dependencies that can be read: ${output.trim().split('\n').at(-1)}`,
  );
}

async function readPythonVersion(python: string): Promise<string> {
  const program = 'import sys; print("%d.%d" % sys.version_info[:2])';
  return (await run([python, '-c', program], '/', PROBE_MS_MAX)).output.trim();
}

async function writtenTo(scratch: string, text: string): Promise<string> {
  const file = join(scratch, 'requirements.txt');
  await writeFile(file, text);
  return file;
}

async function firstThatWorks(commands: string[][]): Promise<string[] | undefined> {
  for (const command of commands) {
    if ((await run([...command, '--version'], '/', PROBE_MS_MAX)).code === 0) return command;
  }
  return undefined;
}

function run(
  [command = '', ...args]: string[],
  cwd: string,
  timeout: number,
): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const chunks: string[] = [];
    const child = spawn(command, args, { cwd, timeout, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk));
    child.once('error', (error) => resolve({ code: 1, output: error.message }));
    child.once('close', (code, signal) => {
      const ended = signal === null ? '' : `\nIt was ended by ${signal} after ${timeout / 1000} s.`;
      resolve({ code: code ?? 1, output: chunks.join('') + ended });
    });
  });
}

/** Writes the folder as a gzip tar, and what it holds beside it. */
async function packFolder(place: string, packed: string): Promise<PackedSet> {
  const names = (await readdir(place, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(place.length + 1))
    // uv leaves a lock file, and what is compiled depends on the interpreter; the server compiles it itself.
    .filter((name) => name !== '.lock' && !name.split(sep).includes('__pycache__'))
    .sort();
  await mkdir(CACHE, { recursive: true });
  const draft = `${packed}.${randomUUID()}`;
  const archive = pack();
  const written = pipeline(archive, createGzip({ level: GZIP_LEVEL }), createWriteStream(draft));
  let bytes = 0;
  try {
    for (const name of names) {
      const { size, mode } = await stat(join(place, name));
      bytes += size;
      const header = { name: `${PACKAGES_FOLDER}/${name.split(sep).join('/')}`, size, mtime: ENTRY_TIME };
      await pipeline(
        createReadStream(join(place, name)),
        archive.entry({ ...header, mode: (mode & 0o111) === 0 ? 0o644 : 0o755 }),
      );
    }
    archive.finalize();
    await written;
    const set: PackedSet = { packages: listPackages(names), bytes, packedAt: new Date().toISOString() };
    await writeFile(`${draft}.json`, JSON.stringify(set));
    await rename(`${draft}.json`, resolveNotePath(packed));
    // Not replaced where another push was faster: it may be uploading that file.
    await link(draft, packed).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    return set;
  } finally {
    await Promise.all([draft, `${draft}.json`].map((path) => rm(path, { force: true })));
  }
}

function listPackages(names: readonly string[]): string[] {
  return names.flatMap((name) => {
    const [, package_, version] = /^([^/\\]+)-([^-/\\]+)\.dist-info[/\\]METADATA$/.exec(name) ?? [];
    return package_ === undefined ? [] : [`${package_} ${version}`];
  });
}

function resolveNotePath(packed: string): string {
  return packed.replace(/\.tar\.gz$/, '.json');
}

/**
 * Reads the description of a packed set. Its modification time is the last use of the set, because a file that another
 * push is uploading must not change, not even its time.
 */
async function readSet(packed: string): Promise<PackedSet | undefined> {
  try {
    await stat(packed);
    const set: PackedSet = JSON.parse(await readFile(resolveNotePath(packed), 'utf8'));
    const now = new Date();
    await utimes(resolveNotePath(packed), now, now);
    return set;
  } catch {
    return undefined;
  }
}

async function evictOldSets(): Promise<void> {
  const names = (await readdir(CACHE)).filter((name) => name.endsWith('.tar.gz'));
  const sets = await Promise.all(
    names.map(async (name) => ({ name, usedAt: await readLastUse(join(CACHE, name)) })),
  );
  for (const { name } of sets.sort((a, b) => b.usedAt - a.usedAt).slice(MAX_CACHED_SETS)) {
    await rm(join(CACHE, name), { force: true });
    await rm(resolveNotePath(join(CACHE, name)), { force: true });
  }
}

async function readLastUse(packed: string): Promise<number> {
  return await stat(resolveNotePath(packed)).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}

function measureSize(set: PackedSet): string {
  return `${set.packages.length} with ${(set.bytes / 1_000_000).toFixed(1)} MB`;
}
