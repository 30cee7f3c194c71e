/** Laws about package.json files and the lock file: npm installs exactly the chosen versions. */
import type { Manifest, Packages } from './packages.ts';

const EXACT = /^\d+\.\d+\.\d+(-[\w.-]+)?$/;
const KINDS = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'] as const;

function listDependencies(
  manifest: Manifest,
): [kind: (typeof KINDS)[number], name: string, version: string][] {
  return KINDS.flatMap((kind) =>
    Object.entries(manifest[kind] ?? {}).map(([name, version]): [typeof kind, string, string] => [
      kind,
      name,
      version,
    ]),
  );
}

function manifestPath(folder: string): string {
  return folder === '' ? 'package.json' : `${folder}/package.json`;
}

/** Returns dependencies without one exact version. */
export function findUnpinnedVersions(packages: Packages): string[] {
  return [...packages].flatMap(([folder, manifest]) =>
    listDependencies(manifest)
      .filter(([, , version]) => !EXACT.test(version))
      .map(([, name, version]) => `${manifestPath(folder)} has ${name} ${version}: pin one exact version.`),
  );
}

/** Returns dependencies in two versions. Two versions of one package in the workspaces are two packages: their types and classes do not match. */
export function findVersionConflicts(packages: Packages): string[] {
  const first = new Map<string, { folder: string; version: string }>();
  return [...packages].flatMap(([folder, manifest]) =>
    listDependencies(manifest).flatMap(([, name, version]) => {
      const known = first.get(name);
      if (known === undefined) first.set(name, { folder, version });
      if (known === undefined || known.version === version) return [];
      return [
        `${manifestPath(folder)} has ${name} ${version}, but ${manifestPath(known.folder)} has ${known.version}: use the same.`,
      ];
    }),
  );
}

/** Returns dependencies on versions of workspace packages that do not exist. */
export function checkOwnVersions(packages: Packages): string[] {
  const own = new Map([...packages.values()].map(({ name, version }) => [name, version]));
  return [...packages].flatMap(([folder, manifest]) =>
    listDependencies(manifest)
      .filter(([, name, version]) => own.has(name) && own.get(name) !== version)
      .map(
        ([, name, version]) =>
          `${manifestPath(folder)} has ${name} ${version}, which is ${own.get(name)}: use that version.`,
      ),
  );
}

/** Returns a violation unless the root declares a lower bound for Node. */
export function checkEngines(packages: Packages): string[] {
  const node = packages.get('')?.engines?.node;
  return node && /^>=\d+/.test(node)
    ? []
    : ['package.json has no lower bound for Node in engines.node: add one, for example ">=20".'];
}

interface Locked extends Manifest {
  link?: boolean;
  resolved?: string;
}
/** The part of package-lock.json that the laws read. */
export interface Lock {
  packages: Record<string, Locked>;
}

const REMEDY = 'run `npm install` and commit package-lock.json';

/** Returns differences between package-lock.json and the package.json files. */
export function checkLockFile(packages: Packages, lock: Lock): string[] {
  const own = new Set([...packages.values()].map(({ name }) => name));
  const wrong = [...packages].flatMap(([folder, manifest]) => {
    const locked = lock.packages[folder];
    if (locked === undefined) return [`package-lock.json lacks ${manifestPath(folder)}: ${REMEDY}.`];
    const listed = new Set(listDependencies(locked).map((one) => one.join(' ')));
    const wanted = new Set(listDependencies(manifest).map((one) => one.join(' ')));
    const differing = [...listed.symmetricDifference(wanted)].map(
      (one) => `package-lock.json and ${manifestPath(folder)} disagree about ${one}: ${REMEDY}.`,
    );
    const missing = listDependencies(manifest).flatMap(([, name, version]) => {
      if (own.has(name)) return [];
      const installed =
        lock.packages[`${folder}/node_modules/${name}`] ?? lock.packages[`node_modules/${name}`];
      if (installed?.version === version) return [];
      return [
        `package-lock.json has ${name} ${installed?.version ?? 'nowhere'}, but ${manifestPath(folder)} has ${version}: ${REMEDY}.`,
      ];
    });
    return [...differing, ...missing];
  });
  const orphaned = Object.keys(lock.packages).filter(
    (key) => !key.includes('node_modules/') && !packages.has(key),
  );
  return [
    ...wrong,
    ...orphaned.map((key) => `package-lock.json has ${key}, which has no package.json: ${REMEDY}.`),
  ];
}

/** Returns packages with a registry URL. A URL in the lock file sends every installation to one host, whatever registry its user has configured. */
export function findRegistryHosts(lock: Lock): string[] {
  return Object.entries(lock.packages)
    .filter(([, { resolved, link }]) => resolved !== undefined && !link)
    .map(
      ([key, { resolved }]) =>
        `package-lock.json has the URL ${resolved} for ${key}: remove the resolved line (npm: omit-lockfile-registry-resolved).`,
    );
}
