/** Turns a folder or an archive of the reader's machine into an archive to push. */

import { MANIFEST_NAME } from '@switchyard/contract/applications/manifest/manifest.ts';
import { UPLOAD_BYTES_MAX } from '@switchyard/contract/limits.ts';
import { formatNameList } from '@switchyard/contract/name-list.ts';
import { formatBytes } from '@switchyard/contract/presentation/format-quantity.ts';
import type { ManifestHead } from './read-manifest.ts';
import { createTar, readTarFile, type TarEntry } from './tar.ts';

/** Folders and files that no app needs: they belong to tools of its author. */
const IGNORED_NAMES = new Set(['.git', '.venv', '__pycache__', '.DS_Store', '.mypy_cache', '.pytest_cache']);
/** Starts of scripts and of programs for Linux: the browser does not know which files are executable. */
const EXECUTABLE_STARTS = ['#!', '\x7fELF'];
const START_BYTES = 4;

/** A file that was chosen or dropped, with its path below the chosen folder's parent. */
export interface FoundFile {
  path: string;
  file: File;
}

/** An archive that is ready to push. */
export interface PackedApp {
  archive: Blob;
  head: ManifestHead;
  /** Number of packed files; undefined for an archive that was chosen as it is. */
  files?: number;
  /** A sentence about files that were left out. */
  skipped?: string;
}

/** Returns the app in the files: one gzip tar, or a folder with a manifest. Throws a sentence if they hold no app. */
export async function packApp(found: readonly FoundFile[]): Promise<PackedApp> {
  const [only] = found;
  if (found.length === 1 && only && /\.(tar\.gz|tgz)$/i.test(only.path)) return readArchive(only.file);
  return packFolder(found);
}

async function readArchive(archive: File): Promise<PackedApp> {
  checkSize(archive.size);
  const text = await readTarFile(archive, MANIFEST_NAME).catch(() => {
    throw new Error(`${archive.name} is not a gzip tar. Create it with tar -czf.`);
  });
  if (text === undefined)
    throw new Error(`${archive.name} has no ${MANIFEST_NAME} at its root. Pack the folder of the app.`);
  return { archive, head: await readHead(text) };
}

async function packFolder(found: readonly FoundFile[]): Promise<PackedApp> {
  const manifest = findManifest(found);
  if (!manifest) throw new Error(`The folder has no ${MANIFEST_NAME}. Choose the folder of a decision app.`);
  const root = manifest.path.slice(0, -MANIFEST_NAME.length);
  const own = found.filter(({ path }) => path.startsWith(root));
  const ignored = new Set(own.flatMap(({ path }) => findIgnored(path.slice(root.length)) ?? []));
  const files = own.filter(({ path }) => findIgnored(path.slice(root.length)) === undefined);
  checkSize(files.reduce((total, { file }) => total + file.size, 0));
  const head = await readHead(await manifest.file.text());
  const entries = await Promise.all(
    files.map(
      async ({ path, file }): Promise<TarEntry> => ({
        name: path.slice(root.length),
        content: file,
        isExecutable: await isExecutable(file),
      }),
    ),
  );
  const zipped = createTar(entries).stream().pipeThrough(new CompressionStream('gzip'));
  const skipped =
    ignored.size > 0 && `Left out: ${formatNameList([...ignored].sort())} (files of tools, not of the app).`;
  const archive = await new Response(zipped).blob();
  return { archive, head, files: entries.length, ...(skipped && { skipped }) };
}

/** The parser of YAML is not a part of the page until an app is pushed. */
async function readHead(manifest: string): Promise<ManifestHead> {
  const { readManifestHead } = await import('./read-manifest.ts');
  return readManifestHead(manifest);
}

/** Returns the file or folder of a tool to which the path belongs. */
function findIgnored(path: string): string | undefined {
  const names = path.split('/');
  const place = names.findIndex((name) => IGNORED_NAMES.has(name));
  return place < 0 ? undefined : names.slice(0, place + 1).join('/');
}

/** Returns the manifest that is nearest to the root. */
function findManifest(found: readonly FoundFile[]): FoundFile | undefined {
  const manifests = found.filter(({ path }) => path.split('/').at(-1) === MANIFEST_NAME);
  return manifests.toSorted((one, other) => one.path.length - other.path.length)[0];
}

function checkSize(bytes: number): void {
  if (bytes > UPLOAD_BYTES_MAX)
    throw new Error(
      `The app has ${formatBytes(bytes)}, and the limit is ${formatBytes(UPLOAD_BYTES_MAX)}. Remove files that it does not need.`,
    );
}

async function isExecutable(file: File): Promise<boolean> {
  const bytes = new Uint8Array(await file.slice(0, START_BYTES).arrayBuffer());
  const start = String.fromCharCode(...bytes);
  return EXECUTABLE_STARTS.some((one) => start.startsWith(one));
}
