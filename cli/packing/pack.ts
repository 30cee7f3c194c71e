/**
 * Packs a decision app into a gzip tar: the files that its manifest names, relative to the app's folder. The build commands of the manifest run first. The packages of a Node or Python app are added.
 */
import { lstatSync, openAsBlob, readFileSync, realpathSync, type Stats, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { MANIFEST_NAME, type Manifest } from '@switchyard/contract/applications/manifest/manifest.ts';
import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { ArchiveValidator, InvalidArchiveError } from '@switchyard/runner';
import picomatch from 'picomatch';
import { pack } from 'tar-stream';
import { CommandError } from '../errors/command-error.ts';
import { type ReportLine, runBuildSteps } from './build-steps.ts';
import { listDependencies } from './dependencies.ts';
import {
  type FoundFile,
  formatSkipped,
  listFolder,
  refuseProblems,
  resolveBelow,
  type SkippedFile,
} from './folder-files.ts';
import { type AppManifest, readAppManifest } from './manifest.ts';
import { ENTRY_TIME, PACKAGES_FOLDER, packPythonPackages } from './python-packages.ts';
import { LOCAL_TARGET, type Target } from './target.ts';

interface Selection {
  /** Sorted by name. */
  files: FoundFile[];
  skipped: SkippedFile[];
}

/** Folders that a wildcard does not match. Push itself packs the packages of the second one that the app needs. */
const GIT_FOLDER = '.git';
/**
 * Selects the files of an app by the list `files` of its manifest. Its patterns apply in order; one that begins with `!`
 * removes files, and a folder stands for everything below it.
 */
const NODE_FOLDER = 'node_modules';
const HIDDEN = 'hidden; name it in files of app.yaml to send it';
const PACKAGES = 'name it in files of app.yaml to send it';

/** Throws CommandError for a pattern that matches nothing or leads out of the folder, and for a file that may not be sent. */
function selectFiles(folder: string, patterns: readonly string[], manifest: string): Selection {
  const root = realpathSync(folder);
  const chosen = new Map<string, FoundFile>();
  const skipped = new Map<string, SkippedFile>();
  for (const pattern of patterns) {
    const removes = pattern.startsWith('!');
    const plain = normalizePattern(removes ? pattern.slice(1) : pattern, manifest);
    if (removes) {
      for (const name of chosen.keys()) if (removesName(plain, name)) chosen.delete(name);
      for (const name of skipped.keys()) if (removesName(plain, name)) skipped.delete(name);
      continue;
    }
    const found = findFiles(root, plain);
    if (found.files.length === 0) throw new CommandError(explainNoMatch(root, pattern, manifest));
    for (const file of found.files) chosen.set(file.name, file);
    for (const one of found.skipped) skipped.set(one.name, one);
  }
  const files = [...chosen.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
  refuseProblems(folder, files);
  return {
    files,
    skipped: [...skipped.values()].filter(({ name }) => !files.some((file) => isIn(name, file.name))),
  };
}

/** Returns the pattern relative to the folder, without `./` and a last `/`; empty for the folder itself. */
function normalizePattern(pattern: string, manifest: string): string {
  const plain = posix.normalize(pattern).replace(/\/+$/, '');
  if (
    plain === '..' ||
    plain.startsWith('../') ||
    posix.isAbsolute(pattern) ||
    /^[A-Za-z]:[\\/]/.test(pattern)
  )
    throw new CommandError(
      `${manifest} names ${quote(pattern)} in files, which is outside of the folder. Nothing was sent. Copy the files into the folder, and name their paths there.`,
    );
  return plain === '.' ? '' : plain;
}

const quote = (text: string): string => escapeInvisible(JSON.stringify(text));

/** Reports whether the name is that of the folder or file, or is in it. */
function isIn(folder: string, name: string): boolean {
  return folder === '' || name === folder || name.startsWith(`${folder}/`);
}

function removesName(pattern: string, name: string): boolean {
  return isIn(pattern, name) || matchesGlob(pattern, name, true);
}

/** Wildcards of the matcher match no line breaks, which names may have. */
function matchesGlob(pattern: string, name: string, dot: boolean): boolean {
  return picomatch(pattern, { dot })(name.replaceAll(/[\n\r\u2028\u2029]/g, ' '));
}

function findFiles(root: string, pattern: string): Selection {
  if (!findEntry(join(root, pattern))) return findByGlob(root, pattern);
  const target = resolveBelow(root, join(root, pattern));
  if (!('problem' in target) && findEntry(target.path)?.isDirectory())
    return listVisible(root, pattern, pattern);
  return { files: [{ name: pattern, ...target }], skipped: [] };
}

/** Returns undefined for a path that does not exist, or that no file can have. */
function findEntry(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function findByGlob(root: string, pattern: string): Selection {
  const { base, isGlob } = picomatch.scan(pattern);
  const none = { files: [], skipped: [] };
  if (!isGlob || !findEntry(join(root, base))) return none;
  const target = resolveBelow(root, join(root, base));
  if ('problem' in target) return { files: [{ name: base, ...target }], skipped: [] };
  if (!findEntry(target.path)?.isDirectory()) return none;
  const { files, skipped } = listVisible(root, base, pattern);
  const chosen = files.filter(({ name }) => matchesGlob(pattern, name, false));
  const hidden = files.filter(
    ({ name }) => !matchesGlob(pattern, name, false) && matchesGlob(pattern, name, true),
  );
  return {
    files: chosen,
    skipped: [
      ...skipped.filter(({ name }) => [name, `${name}/x`].some((one) => matchesGlob(pattern, one, true))),
      ...hidden.map(({ name }) => ({ name, reason: HIDDEN })),
    ],
  };
}

/** Lists the files below the folder, without hidden ones that the pattern does not name. */
function listVisible(root: string, start: string, pattern: string): Selection {
  const parts = pattern.split('/');
  const namesHidden = parts
    .slice(start === '' ? 0 : start.split('/').length)
    .some((part) => part.startsWith('.'));
  const { files, skipped } = listFolder(root, start, (name) => {
    const own = posix.basename(name);
    if (own === NODE_FOLDER) return parts.includes(NODE_FOLDER) ? undefined : PACKAGES;
    if (own === GIT_FOLDER) return parts.includes(GIT_FOLDER) ? undefined : HIDDEN;
    return own.startsWith('.') && !namesHidden ? HIDDEN : undefined;
  });
  return { files, skipped };
}

function explainNoMatch(root: string, pattern: string, manifest: string): string {
  const message = `${manifest} names ${quote(pattern)} in files, which matches no file.`;
  const slashed = pattern.replaceAll('\\', '/');
  if (slashed !== pattern && findFiles(root, posix.normalize(slashed)).files.length > 0)
    return `${message} Separate folders by "/": ${quote(slashed)} matches.`;
  return message;
}

export interface PackedApp extends AppManifest {
  /** On the disk as far as it is large; `size` is in bytes. */
  archive: Blob;
  /** Names in the archive, in its order, without those of Python packages. */
  files: string[];
}

/** The two empty blocks that end a tar. */
const END_OF_TAR_BYTES = 1024;

/** Throws with a message for a manifest that is not right, a command that fails, and packages that cannot be had. */
export async function packApp(
  folder: string,
  target: Target = LOCAL_TARGET,
  report: ReportLine = () => {},
): Promise<PackedApp> {
  const { manifest, warnings } = readAppManifest(folder);
  await runBuildSteps(folder, manifest, target, report);
  const isPython = manifest.type === 'python';
  const packages = isPython ? await packPythonPackages(folder, manifest, target, report) : undefined;
  const hasPackages = packages !== undefined;
  const patterns = [MANIFEST_NAME, ...manifest.files];
  const selected = selectFiles(folder, patterns, join(folder, MANIFEST_NAME));
  for (const line of describeSkipped(selected.skipped, { type: manifest.type, hasPackages })) report(line);
  // Packages of an earlier installation in the folder would be mixed with those that the requirements name.
  const own = selected.files.filter(({ name }) => !hasPackages || !name.startsWith(`${PACKAGES_FOLDER}/`));
  if (manifest.type === 'binary')
    refuseLineEndings(own, posix.normalize(manifest.execution?.entrypoint || 'main'));
  const dependencies = manifest.type === 'node' ? listDependencies(folder) : [];
  const sources = new Map([...own, ...dependencies].map((file) => [file.name, file]));
  const tar = await createTar({ files: [...sources.values()] });
  const parts =
    packages === undefined
      ? [gzipSync(tar)]
      : // Gzip streams may be joined; the end of the tar is in the second.
        [gzipSync(tar.subarray(0, -END_OF_TAR_BYTES)), await openAsBlob(packages)];
  return { archive: new Blob(parts), files: [...sources.keys()], manifest, warnings };
}

/** Files of tools, which are left out of every archive without a word. */
const UNREPORTED = new Set(['.git', '.switchyard.json']);

/** Returns the lines about files that are not sent. */
function describeSkipped(
  skipped: readonly SkippedFile[],
  { type, hasPackages }: { type: Manifest['type']; hasPackages: boolean },
): string[] {
  return formatSkipped(
    skipped.filter(({ name }) => {
      const own = posix.basename(name);
      if (own === NODE_FOLDER && type === 'node') return false;
      return !UNREPORTED.has(own) && !(hasPackages && name === PACKAGES_FOLDER.split('/')[0]);
    }),
  );
}

/** The kernel takes a carriage return for a part of the name of the interpreter, and reports a program that is missing. */
function refuseLineEndings(files: readonly FoundFile[], entrypoint: string): void {
  const script = files.find(({ name }) => name === entrypoint);
  const [line = ''] = script ? readFileSync(script.path, 'latin1').split('\n', 1) : [];
  if (!line.startsWith('#!') || !line.endsWith('\r')) return;
  throw new CommandError(
    `The first line of ${entrypoint} is ${JSON.stringify(line)}: it ends with a carriage return, so the host would look for a program of that name. Nothing was sent. Save the file with the line endings of Linux (LF).`,
  );
}

interface PackedFiles {
  files: readonly FoundFile[];
  emptyFolders?: readonly string[];
}

type EntryHeader = Parameters<ReturnType<typeof pack>['entry']>[0];

/** Throws CommandError for names and numbers of files that no server accepts, before anything is sent. */
async function createTar({ files, emptyFolders = [] }: PackedFiles): Promise<Buffer> {
  const archive = pack();
  const bytes = buffer(archive);
  const validator = new ArchiveValidator();
  const add = (header: EntryHeader, content = Buffer.alloc(0)): void => {
    validator.accept(header);
    archive.entry(header, content);
  };
  try {
    for (const name of emptyFolders) add({ name: `${name}/`, type: 'directory', mtime: ENTRY_TIME });
    for (const { name, path } of files) {
      const { mode, size } = statSync(path);
      add({ name, type: 'file', size, mode: mode & 0o777, mtime: ENTRY_TIME }, readFileSync(path));
    }
  } catch (error) {
    throw error instanceof InvalidArchiveError
      ? new CommandError(`${error.message} Nothing was sent.`)
      : error;
  }
  archive.finalize();
  return await bytes;
}

/** Folders of tools in a folder of inputs. */
const NOT_INPUTS = new Set(['.git', NODE_FOLDER]);

/** Packs every file below the folder into a gzip tar, with paths relative to the folder. Reports files that are not sent. */
export async function packFolder(folder: string, report: ReportLine): Promise<Blob> {
  const { skipped, ...listing } = listFolder(realpathSync(folder), '', (name) =>
    NOT_INPUTS.has(posix.basename(name)) ? 'a folder of a tool' : undefined,
  );
  refuseProblems(folder, listing.files);
  for (const line of formatSkipped(skipped)) report(line);
  return new Blob([gzipSync(await createTar(listing))]);
}
