/** Stores the files that a compiler wrote beside the executable. */
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { chmod, link, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { findFileOwner, type ResultSource } from '../archive/collect-results.ts';
import type { CachedExecutable } from '../archive/executable-cache.ts';
import type { CompiledIndex } from '../archive/executable-index.ts';
import { type RunFolder, SANDBOX_APP_PATH } from '../filesystem/run-folder.ts';
import {
  listFiles,
  openFolder,
  openOwnedFile,
  readExactly,
  splitPath,
} from '../filesystem/untrusted-files.ts';
import { isErrno } from '../process/errors.ts';
import type { EndReport } from './protocol.ts';

/** Folder of the compiler's files below the /tmp of its sandbox. */
export const OUTPUT_FOLDER = 'compiled';

/** Files that a compiler wrote. */
interface CompilerOutput extends ResultSource {
  /** Paths relative to the /tmp of the sandbox. */
  files: string[];
}

/** Copies the files of the compiler into `compiled/` of the executable; returns undefined when there are none. */
export async function storeCompiled(
  compiled: { type: 'python' | 'node'; path: string; runtime: string },
  executable: CachedExecutable,
  folder: RunFolder,
  report: EndReport,
): Promise<CompiledIndex | undefined> {
  const draft = join(executable.folder, `compiled-${randomUUID()}`);
  try {
    await makeReadableFolder(draft);
    const owner = await findFileOwner(folder, report.user);
    const output: CompilerOutput = {
      folder,
      owner,
      isOnRunDisk: report.disk !== undefined,
      files: await listFiles(folder.tmp),
    };
    const stored =
      compiled.type === 'python'
        ? await storeBytecode(executable, compiled.path, output, draft)
        : await storeNodeCache(output, draft);
    if (stored.bytes === 0) return undefined;
    const index: CompiledIndex = { ...stored, runtime: compiled.runtime };
    await writeFile(join(draft, 'index.json'), JSON.stringify(index));
    const target = join(executable.folder, 'compiled');
    // An existing folder was made for another runtime by an earlier process, so no run uses it.
    await rm(target, { recursive: true, force: true });
    await rename(draft, target).catch((error: unknown) => {
      if (!isErrno(error, 'ENOTEMPTY', 'EEXIST')) throw error;
    });
    return index;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Links the dependency folder's files into the draft and adds the bytecode where Python looks for it. */
async function storeBytecode(
  { folder, index, entriesByPath }: CachedExecutable,
  path: string,
  output: CompilerOutput,
  draft: string,
): Promise<Omit<CompiledIndex, 'runtime'>> {
  const created = new Set<string>(['.']);
  const ensureFolder = async (relative: string): Promise<void> => {
    if (created.has(relative)) return;
    await ensureFolder(dirname(relative));
    await makeReadableFolder(join(draft, 'root', relative));
    created.add(relative);
  };
  const bytecode: { from: string; to: string }[] = [];
  for (const from of output.files) {
    const match = /^(.*)\.[a-z]+-[0-9a-z]+\.pyc$/.exec(from);
    const source = match?.[1]?.slice(`${OUTPUT_FOLDER}${SANDBOX_APP_PATH}/`.length) ?? '';
    if (!source.startsWith(`${path}/`) || entriesByPath.get(`${source}.py`)?.kind !== 'file') continue;
    const name = from.slice(from.lastIndexOf('/') + 1);
    bytecode.push({ from, to: `${dirname(source)}/__pycache__/${name}` });
  }
  if (bytecode.length === 0) return { bytes: 0, shared: [] };
  await makeReadableFolder(join(draft, 'root'));
  // Bytecode of the archive records the time of its source, which unpacking has changed, so Python would ignore it.
  const replaced = new Set(bytecode.map(({ to }) => to));
  for (const entry of index.entries) {
    if (!entry.path.startsWith(`${path}/`) || replaced.has(entry.path)) continue;
    if (entry.kind === 'directory') {
      await ensureFolder(entry.path);
      continue;
    }
    await ensureFolder(dirname(entry.path));
    const to = join(draft, 'root', entry.path);
    if (entry.kind === 'symlink') await symlink(entry.target ?? '', to);
    else await link(join(folder, 'root', entry.path), to);
  }
  let bytes = 0;
  for (const { from, to } of bytecode) {
    await ensureFolder(dirname(to));
    bytes += await copyOutputFile(output, from, join(draft, 'root', to));
  }
  return { bytes, shared: [path] };
}

/** Copies Node's cache, whose folder is named for the version of Node and the user that compiled. */
async function storeNodeCache(
  output: CompilerOutput,
  draft: string,
): Promise<Omit<CompiledIndex, 'runtime'>> {
  let bytes = 0;
  let version = '';
  await makeReadableFolder(join(draft, 'node'));
  for (const relative of output.files) {
    const match = /^compiled\/(v[\w.-]+)-[0-9]+\/([\w.-]+)$/.exec(relative);
    if (match?.[1] === undefined || match[2] === undefined) continue;
    version = match[1];
    bytes += await copyOutputFile(output, relative, join(draft, 'node', match[2]));
  }
  return { bytes, shared: [], ...(version === '' ? {} : { nodeVersion: version }) };
}

/** Creates a folder that every run can read, whatever the umask of this process is. */
async function makeReadableFolder(path: string): Promise<void> {
  await mkdir(path);
  await chmod(path, 0o755);
}

/** Copies a file of the compiler, so that this process owns it; returns its size. */
async function copyOutputFile(
  { folder, owner, isOnRunDisk }: CompilerOutput,
  relative: string,
  to: string,
): Promise<number> {
  const parts = splitPath(relative);
  const name = parts.pop() ?? '';
  const parent = await openFolder(folder.tmp, parts.join('/'));
  const file = parent && (await openOwnedFile(parent, name, owner));
  try {
    if (file === undefined) return 0;
    const bytes = (await file.stat()).size;
    if (isOnRunDisk) await file.sync();
    await pipeline(readExactly(file, bytes), createWriteStream(to, { flags: 'wx', mode: 0o644 }));
    await chmod(to, 0o644);
    return bytes;
  } finally {
    await file?.close();
    await parent?.handle.close();
  }
}
