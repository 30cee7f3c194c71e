/** The packages of this repository, and the target of each import: a package, a file, or a path outside. */
import { posix } from 'node:path';
import type { Source } from './source-files.ts';

/** The fields of a package.json file that the laws read. */
export interface Manifest {
  name?: string;
  version?: string;
  private?: boolean;
  engines?: Record<string, string>;
  exports?: Record<string, string>;
  workspaces?: string[];
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

/** The packages by folder; the folder of the root is the empty string. */
export type Packages = ReadonlyMap<string, Manifest>;

/** Returns the packages that the package.json files among the sources describe. */
export function collectPackages(sources: readonly Source[]): Packages {
  const manifests = sources.filter(({ path }) => /^((sample-apps\/)?[^/]+\/)?package\.json$/.test(path));
  return new Map(
    manifests.map(({ path, text }): [string, Manifest] => [
      path.replace(/\/?package\.json$/, ''),
      JSON.parse(text),
    ]),
  );
}

/** Returns the folder of the package that contains a path: `server`, `sample-apps/knapsack`, or the root. */
export function packageFolder(path: string): string {
  const [first = '', second = ''] = path.split('/');
  if (!path.includes('/')) return '';
  return first === 'sample-apps' ? `${first}/${second}` : first;
}

/** A workspace package, a package from the registry, or a module of Node. */
export type ImportTarget =
  | { kind: 'own'; folder: string; path: string | undefined; relative: boolean }
  | { kind: 'foreign'; name: string }
  | { kind: 'node'; name: string };

/** Returns the target of an import in the file at `from`. */
export function resolveImport(from: string, specifier: string, packages: Packages): ImportTarget {
  const [bare = ''] = specifier.split('?');
  if (bare.startsWith('.')) {
    const path = posix.join(posix.dirname(from), bare);
    return { kind: 'own', folder: packageFolder(path), path, relative: true };
  }
  if (bare.startsWith('node:')) return { kind: 'node', name: bare };
  const name = /^(@[^/]+\/)?[^/]+/.exec(bare)?.[0] ?? bare;
  for (const [folder, manifest] of packages) {
    if (manifest.name !== name) continue;
    const inside = `.${bare.slice(name.length)}`;
    const exported = manifest.exports?.[inside] ?? (inside === '.' ? undefined : inside);
    return { kind: 'own', folder, path: exported && posix.join(folder, exported), relative: false };
  }
  return { kind: 'foreign', name };
}
