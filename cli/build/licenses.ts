/** The licence texts of the packages in a bundle, which their licences ask to be passed on. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createJsonParser } from '@switchyard/contract/schemas/json-parser.ts';
import Type, { type Static } from 'typebox';

const PackageFile = Type.Object({
  name: Type.Optional(Type.String()),
  version: Type.Optional(Type.String()),
  license: Type.Optional(Type.String()),
  repository: Type.Optional(Type.Union([Type.String(), Type.Object({ url: Type.Optional(Type.String()) })])),
});
type PackageFile = Static<typeof PackageFile>;
const parsePackage = createJsonParser(PackageFile);

/**
 * Returns a text with name, version, licence, repository and licence text of each foreign package that has a module in the
 * bundle. The Mozilla Public License demands the address of the source code.
 */
export function collectLicenses(modules: readonly string[]): string {
  const folders = new Set(modules.flatMap((path) => findPackage(path) ?? []));
  const texts = new Set([...folders].map(describePackage));
  return [...texts].sort().join(`\n${'-'.repeat(80)}\n\n`);
}

/** Returns the folder of the package below `node_modules`; undefined for a module of this repository. */
function findPackage(path: string): string | undefined {
  if (!path.includes('/node_modules/')) return undefined;
  for (let folder = dirname(path); !folder.endsWith('/node_modules'); folder = dirname(folder)) {
    // The package.json in a folder of built modules often has no field but the type of these.
    const file = join(folder, 'package.json');
    if (existsSync(file) && readPackage(folder).name !== undefined) return folder;
  }
  return undefined;
}

function readPackage(folder: string): PackageFile {
  const path = join(folder, 'package.json');
  return parsePackage(readFileSync(path, 'utf8'), path);
}

function describePackage(folder: string): string {
  const { name, version, license = 'licence not stated', repository } = readPackage(folder);
  const address = typeof repository === 'string' ? repository : repository?.url;
  const source = address?.replace(/^git(\+https)?:/, 'https:');
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  const title = `${name} ${version} (${license})${source ? `, source code: ${source}` : ''}`;
  return `${title}\n\n${file ? readFileSync(join(folder, file), 'utf8').trim() : ''}\n`;
}
