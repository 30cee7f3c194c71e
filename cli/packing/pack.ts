/**
 * Packs a decision app into a gzip tar: the files that its manifest names, relative to the app's folder. The list `files`
 * has patterns that apply in order. One that begins with `!` removes files, and a folder stands for everything below it.
 * The build commands of the manifest run first. The packages of a Node or Python app are added.
 */
import { openAsBlob, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { globSync } from 'tinyglobby';
import { type ReportLine, runBuildSteps } from './build-steps.ts';
import { listDependencies } from './dependencies.ts';
import { type AppManifest, MANIFEST_FILE_NAME, readAppManifest } from './manifest.ts';
import { ENTRY_TIME, PACKAGES_FOLDER, packPythonPackages } from './python-packages.ts';
import { LOCAL_TARGET, type Target } from './target.ts';

export interface PackedApp {
  /** On the disk as far as it is large; `size` is in bytes. */
  archive: Blob;
  /** Names in the archive, in its order, without those of Python packages. */
  files: string[];
  manifest: AppManifest;
}

/** The two empty blocks that end a tar. */
const END_OF_TAR_BYTES = 1024;

/** Throws with a sentence for a manifest that is not right, a command that fails, and packages that cannot be had. */
export async function packApp(
  folder: string,
  target: Target = LOCAL_TARGET,
  report: ReportLine = () => {},
): Promise<PackedApp> {
  const manifest = readAppManifest(folder);
  await runBuildSteps(folder, manifest, target, report);
  const packages = manifest.python && (await packPythonPackages(folder, manifest.python, target, report));
  const sources = new Map<string, string>([[MANIFEST_FILE_NAME, join(folder, MANIFEST_FILE_NAME)]]);
  for (const name of selectFiles(folder, manifest.files)) {
    // Packages of an earlier installation in the folder would be mixed with those that the requirements name.
    if (packages !== undefined && name.startsWith(`${PACKAGES_FOLDER}/`)) continue;
    sources.set(name, join(folder, name));
  }
  if (manifest.type === 'node') {
    for (const dependency of listDependencies(folder)) {
      for (const name of filesBelow(dependency.folder))
        sources.set(`${dependency.target}/${name}`, join(dependency.folder, name));
    }
  }
  const tar = await createTar(sources);
  const parts =
    packages === undefined
      ? [gzipSync(tar)]
      : // Gzip streams may be joined; the end of the tar is in the second.
        [gzipSync(tar.subarray(0, -END_OF_TAR_BYTES)), await openAsBlob(packages)];
  return { archive: new Blob(parts), files: [...sources.keys()], manifest };
}

/** The files that the patterns name, sorted. */
function selectFiles(folder: string, patterns: readonly string[]): string[] {
  const chosen = new Set<string>();
  for (const pattern of patterns) {
    const removes = pattern.startsWith('!');
    const plain = posix.normalize(removes ? pattern.slice(1) : pattern);
    const found = isFolder(join(folder, plain))
      ? filesBelow(folder, posix.join(plain, '**'))
      : filesBelow(folder, plain);
    if (!removes && found.length === 0)
      throw new Error(
        `${join(folder, MANIFEST_FILE_NAME)} names ${JSON.stringify(pattern)} in files, which matches no file.`,
      );
    for (const name of found) {
      if (removes) chosen.delete(name);
      else chosen.add(name);
    }
  }
  return [...chosen].sort();
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function filesBelow(folder: string, pattern = '**'): string[] {
  const ignore = ['**/node_modules/**', '**/.git/**'];
  // Node has such a function from version 22 on.
  return globSync(pattern, { cwd: folder, ignore, expandDirectories: false }).sort();
}

async function createTar(sources: ReadonlyMap<string, string>): Promise<Buffer> {
  const archive = pack();
  const bytes = buffer(archive);
  for (const [name, path] of sources) {
    const mode = statSync(path).mode & 0o777;
    archive.entry({ name, mode, mtime: ENTRY_TIME }, readFileSync(path));
  }
  archive.finalize();
  return await bytes;
}

/** Packs every file below the folder into a gzip tar, with paths relative to the folder. */
export async function packFolder(folder: string): Promise<Blob> {
  const tar = await createTar(new Map(filesBelow(folder).map((name) => [name, join(folder, name)])));
  return new Blob([gzipSync(tar)]);
}
