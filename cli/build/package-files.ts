/** The files of the package `switchyard` as a registry or `npm install` of a file expects them. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { createJsonParser } from '@switchyard/contract/schemas/json-parser.ts';
import { pack } from 'tar-stream';
import Type from 'typebox';
import { VERSION } from '../session/version.ts';
import { bundleCommandLine, NODE_VERSION_MIN } from './bundle.ts';
import { collectLicenses } from './licenses.ts';

const cli = join(import.meta.dirname, '..');
const repository = join(cli, '..');
const PROGRAM = 'lib/switchyard.js';
/** The same files make the same archive, whose checksum others can compare. npm writes this time too. */
const FILE_TIME = new Date('1985-10-26T08:15:00Z');

/** Returns the files of the package by path. */
export async function createPackageFiles(): Promise<Map<string, string | Buffer>> {
  const { scripts, modules } = await bundleCommandLine();
  const files = new Map<string, string | Buffer>([
    ['package.json', `${JSON.stringify(describePackage(), null, 2)}\n`],
    ['README.md', readFileSync(join(cli, 'README.md'))],
    ['app.schema.json', readFileSync(join(cli, 'packing', 'app.schema.json'))],
    ['switchyard.schema.json', readFileSync(join(cli, 'applying', 'switchyard.schema.json'))],
    ['LICENSE', readFileSync(join(repository, 'LICENSE'))],
    ['THIRD-PARTY-LICENSES.txt', collectLicenses(modules)],
  ]);
  for (const [name, code] of scripts) {
    const path = `lib/${name}`;
    files.set(path, path === PROGRAM ? `#!/usr/bin/env node\n${code}` : code);
  }
  for (const folder of ['templates', 'examples'])
    for (const [path, content] of readFolder(join(cli, folder))) files.set(`${folder}/${path}`, content);
  return files;
}

const parsePackage = createJsonParser(Type.Object({ license: Type.String() }));

function describePackage(): object {
  const path = join(repository, 'package.json');
  const own = parsePackage(readFileSync(path, 'utf8'), path);
  return {
    name: 'switchyard',
    version: VERSION,
    description: 'Push, run and test decision apps on a Switchyard server.',
    license: own.license,
    type: 'module',
    bin: { switchyard: PROGRAM },
    engines: { node: `>=${NODE_VERSION_MIN}` },
  };
}

function readFolder(folder: string): Map<string, Buffer> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .sort();
  return new Map(paths.map((path) => [relative(folder, path).split(sep).join('/'), readFileSync(path)]));
}

/** Returns the package as the gzip tar that `npm install` takes. */
export async function createTarball(files: ReadonlyMap<string, string | Buffer>): Promise<Buffer> {
  const archive = pack();
  const bytes = buffer(archive);
  for (const [path, content] of files) {
    const mode = path === PROGRAM ? 0o755 : 0o644;
    archive.entry({ name: `package/${path}`, mode, mtime: FILE_TIME }, Buffer.from(content));
  }
  archive.finalize();
  return gzipSync(await bytes, { level: 9 });
}
