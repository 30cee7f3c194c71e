/**
 * The Python packages that `python.pip-requirements` of a manifest names, installed for the server's host and packed as a
 * gzip tar of `.nextmv/python/deps/`, as the published client does it. A packed set is used again while requirements and
 * target are the same.
 */
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
import { join, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { findPipRequirements, type Manifest } from '@switchyard/contract/applications/manifest/manifest.ts';
import { formatBytes } from '@switchyard/contract/presentation/format-quantity.ts';
import { createJsonParser } from '@switchyard/contract/schemas/json-parser.ts';
import { pack } from 'tar-stream';
import Type, { type Static } from 'typebox';
import { findCacheFolder } from '../profiles/user-folders.ts';
import type { ReportLine } from './build-steps.ts';
import { findInstaller } from './python-installers.ts';
import { readRequirements } from './python-requirements.ts';
import { formatArchitecture, formatTarget, type Target } from './target.ts';

export const PACKAGES_FOLDER = '.nextmv/python/deps';

const CACHE = process.env.SWITCHYARD_PACKAGE_CACHE || join(findCacheFolder(), 'python-packages');
/** Sets of packages that are kept; those that were not used for longest are removed. */
const MAX_CACHED_SETS = 20;
/** Version of Python where neither the server nor the manifest says, as in the published client. */
const DEFAULT_PYTHON = '3.11';
/** Level 4 takes a third of the time of the default, for 3 % more bytes of wheels. */
const GZIP_LEVEL = 4;
/**
 * The time of every file in an archive. A build step writes equal files again with another time. With equal bytes, a later push
 * continues an upload, and the server stores them once.
 */
export const ENTRY_TIME = new Date('1980-01-01T00:00:00Z');

/** The description stored with a packed set. */
const PackedSet = Type.Object({
  /** Such as `numpy 2.4.6`. */
  packages: Type.Array(Type.String()),
  bytes: Type.Number(),
  packedAt: Type.String(),
});
type PackedSet = Static<typeof PackedSet>;
const parseSet = createJsonParser(PackedSet);

/** Path of the packed packages of the manifest; undefined when it requires none. Throws with what to do about it. */
export async function packPythonPackages(
  folder: string,
  manifest: Manifest,
  target: Target,
  report: ReportLine,
): Promise<string | undefined> {
  const named = findPipRequirements(manifest);
  if (named === undefined) return undefined;
  const requirements = await readRequirements(folder, typeof named === 'string' ? named.trim() : named);
  if (requirements.isEmpty) return undefined;
  const python = target.python || String(manifest.python?.version || DEFAULT_PYTHON);
  noteDifferences(manifest, target, python, report);
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
  const installer = await findInstaller(requirements.name);
  report(
    `Installing the Python packages of ${requirements.name} for ${formatTarget(target)}, Python ${python}, with ${installer.name}.`,
  );
  const scratch = await mkdtemp(join(tmpdir(), 'switchyard-packages-'));
  try {
    const place = join(scratch, 'deps');
    await mkdir(place);
    await installer.install({ requirements, folder, scratch, place, target, python }, report);
    await refuseLinks(place, requirements.name);
    const set = await packFolder(place, packed);
    report(`Python packages: ${measureSize(set)}: ${set.packages.join(', ')}.`);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
  await evictOldSets();
  return packed;
}

function noteDifferences(manifest: Manifest, target: Target, python: string, report: ReportLine): void {
  const { arch, version } = manifest.python ?? {};
  if (arch && arch !== formatArchitecture(target))
    report(
      `python.arch is ${arch}; the server runs ${formatTarget(target)}, so packages for ${formatArchitecture(target)} are installed.`,
    );
  if (version && String(version) !== python)
    report(
      `python.version is ${version}; the server runs Python ${python}, so packages for ${python} are installed.`,
    );
}

const parseOrigin = createJsonParser(
  Type.Object({ dir_info: Type.Optional(Type.Object({ editable: Type.Optional(Type.Boolean()) })) }),
);

/** Throws for a package that is a link to a folder of this machine, as `-e` in a file that the requirements name makes it. */
async function refuseLinks(place: string, name: string): Promise<void> {
  for (const entry of await readdir(place)) {
    if (!entry.endsWith('.dist-info')) continue;
    const origin = await readFile(join(place, entry, 'direct_url.json'), 'utf8').catch(() => '{}');
    if (parseOrigin(origin, `direct_url.json of ${entry}`).dir_info?.editable)
      throw new Error(
        `${name} installs ${entry.replace(/-.*/, '')} as editable: a link to a folder of this machine, which the server does not have. Write its path without -e.`,
      );
  }
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
    const set = parseSet(await readFile(resolveNotePath(packed), 'utf8'), packed);
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
  return `${set.packages.length} with ${formatBytes(set.bytes)}`;
}
