/**
 * Packs a decision app: the files its manifest names, relative to the app's folder, into a gzip tar. `files` is a list of
 * patterns applied in order; one that begins with `!` takes files out again. A `pre-push` command is run in the folder
 * first, with the platform the app will run on in `SWITCHYARD_TARGET`.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { parse } from 'yaml';
import { dependenciesOf } from './dependencies.ts';

export interface Packed {
  archive: Buffer;
  /** Names in the archive, in its order. */
  files: string[];
  /** From the manifest. */
  type: string;
  runtime: string;
}

interface Manifest {
  type?: unknown;
  runtime?: unknown;
  files?: unknown;
  'pre-push'?: unknown;
}

/** `target` is `<platform>-<architecture>`, this machine's when absent. Throws with a sentence for a manifest that is not right. */
export async function packApp(
  folder: string,
  target = `${process.platform}-${process.arch}`,
): Promise<Packed> {
  const manifest = readManifest(folder);
  if (typeof manifest['pre-push'] === 'string') {
    execFileSync('sh', ['-c', manifest['pre-push']], {
      cwd: folder,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, SWITCHYARD_TARGET: target },
    });
  }
  const sources = new Map<string, string>([['app.yaml', join(folder, 'app.yaml')]]);
  for (const name of select(folder, manifest.files)) sources.set(name, join(folder, name));
  if (manifest.type === 'node') {
    for (const dependency of dependenciesOf(folder)) {
      for (const name of filesBelow(dependency.folder))
        sources.set(`${dependency.target}/${name}`, join(dependency.folder, name));
    }
  }
  return {
    archive: await archiveOf(sources),
    files: [...sources.keys()],
    type: manifest.type,
    runtime: manifest.runtime,
  };
}

function readManifest(folder: string): Manifest & { type: string; runtime: string; files: string[] } {
  const path = join(folder, 'app.yaml');
  if (!existsSync(path))
    throw new Error(`${folder} has no app.yaml; it must be the folder of a decision app.`);
  const manifest = parse(readFileSync(path, 'utf8')) as Manifest | null;
  const { type, runtime, files } = manifest ?? {};
  if (typeof type !== 'string')
    throw new Error(`${path} has no type; it must be node, python, go, java or binary.`);
  if (typeof runtime !== 'string')
    throw new Error(`${path} has no runtime; it must be a name such as node:26.`);
  if (!Array.isArray(files) || files.length === 0)
    throw new Error(`${path} has no files; it must list at least one pattern.`);
  return { ...manifest, type, runtime, files: files.map(String) };
}

/** The files that the patterns name, sorted. */
function select(folder: string, patterns: readonly string[]): string[] {
  const chosen = new Set<string>();
  for (const pattern of patterns) {
    const out = pattern.startsWith('!');
    const plain = out ? pattern.slice(1) : pattern;
    const found = filesBelow(folder, plain.endsWith('/') ? `${plain}**` : plain);
    if (!out && found.length === 0)
      throw new Error(
        `${join(folder, 'app.yaml')} names ${JSON.stringify(pattern)} in files, which no file matches.`,
      );
    for (const name of found) {
      if (out) chosen.delete(name);
      else chosen.add(name);
    }
  }
  return [...chosen].sort();
}

function filesBelow(folder: string, pattern = '**'): string[] {
  return globSync(pattern, { cwd: folder, exclude: (name) => name === 'node_modules' || name === '.git' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .map((name) => name.split(sep).join('/'))
    .sort();
}

async function archiveOf(sources: ReadonlyMap<string, string>): Promise<Buffer> {
  const archive = pack();
  const bytes = (async () => {
    const chunks: Buffer[] = [];
    for await (const chunk of archive) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  })();
  for (const [name, path] of sources) {
    const { mode, mtime } = statSync(path);
    archive.entry({ name, mode: mode & 0o777, mtime }, readFileSync(path));
  }
  archive.finalize();
  return gzipSync(await bytes);
}
