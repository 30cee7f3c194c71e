/** Creates and reads archives for the runner's tests. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { type Header, pack } from 'tar-stream';
import { unpackArchive } from '../archive/archive.ts';
import type { RunSpec } from '../types.ts';

/** A tar header with the content of the entry. */
export type TarEntry = Partial<Header> & { name: string; body?: string | Buffer };

/** Returns a gzip tar of exactly these entries in this order, hostile ones included. */
export async function createTar(entries: TarEntry[]): Promise<Buffer> {
  const tar = pack();
  for (const { body, ...header } of entries) {
    const bytes = Buffer.from(body ?? '');
    const isFile = header.type === undefined || header.type === 'file';
    const completeHeader = { mode: 0o755, ...header, size: header.size ?? (isFile ? bytes.length : 0) };
    if (isFile) tar.entry(completeHeader, bytes);
    else tar.entry(completeHeader);
  }
  tar.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of tar as AsyncIterable<Uint8Array>) chunks.push(Buffer.from(chunk));
  return gzipSync(Buffer.concat(chunks));
}

/** Returns a gzip tar of files, by name. */
export async function createTarOfFiles(files: Record<string, string>): Promise<Buffer> {
  return await createTar(Object.entries(files).map(([name, body]) => ({ name, body })));
}

/** Returns the SHA-256 of bytes, in hex. */
export function computeSha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Returns an executable for a RunSpec. */
export function createExecutable(bytes: Buffer): RunSpec['executable'] {
  return { hash: computeSha256(bytes), open: async () => Readable.from([bytes]) };
}

/** Returns an archive as the input of a RunSpec. */
export function createArchiveInput(format: RunSpec['input']['format'], bytes: Buffer): RunSpec['input'] {
  return { format, open: async () => Readable.from([bytes]) };
}

/** Returns the files of a result archive, by name. */
export async function readArchiveFiles(path: string | undefined): Promise<Record<string, string>> {
  if (path === undefined) return {};
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-result-'));
  try {
    const { entries } = await unpackArchive(Readable.from([readFileSync(path)]), folder);
    return Object.fromEntries(
      entries
        .filter((entry) => entry.kind === 'file')
        .map((entry) => [entry.path, readFileSync(join(folder, entry.path), 'utf8')]),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns a jar whose main class prints its arguments, or undefined where the host has no JDK. */
export function createJar(): Buffer | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-jar-'));
  try {
    mkdirSync(join(folder, 'out'));
    writeFileSync(
      join(folder, 'Main.java'),
      'public class Main { public static void main(String[] a) { System.out.println(String.join(" ", a)); } }\n',
    );
    execFileSync('javac', ['-d', 'out', 'Main.java'], { cwd: folder, stdio: 'ignore' });
    execFileSync('jar', ['cfe', 'main.jar', 'Main', '-C', 'out', '.'], { cwd: folder, stdio: 'ignore' });
    statSync(join(folder, 'main.jar'));
    return readFileSync(join(folder, 'main.jar'));
  } catch {
    return undefined;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
