/**
 * Packs a decision app into a gzip tar: the files that its manifest names, relative to the app's folder. The build commands of the manifest run first. The packages of a Node or Python app are added.
 */
import { openAsBlob, readFileSync, realpathSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { MANIFEST_NAME, type Manifest } from '@switchyard/contract/applications/manifest/manifest.ts';
import { ArchiveValidator, InvalidArchiveError } from '@switchyard/runner';
import { pack } from 'tar-stream';
import { CommandError } from '../errors/command-error.ts';
import { type ReportLine, runBuildSteps } from './build-steps.ts';
import { listDependencies } from './dependencies.ts';
import {
  type FoundFile,
  formatSkipped,
  listFolder,
  refuseProblems,
  type SkippedFile,
} from './folder-files.ts';
import { type AppManifest, readAppManifest } from './manifest.ts';
import { ENTRY_TIME, PACKAGES_FOLDER, packPythonPackages } from './python-packages.ts';
import { NODE_FOLDER, selectFiles } from './select-files.ts';
import { LOCAL_TARGET, type Target } from './target.ts';

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
