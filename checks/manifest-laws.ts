/** Laws about package.json files and the lock file: what is installed is what was chosen, to the last digit. */
import type { Manifest, Packages } from './packages.ts';

const EXACT = /^\d+\.\d+\.\d+(-[\w.-]+)?$/;
const KINDS = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'] as const;

function dependenciesOf(manifest: Manifest): [kind: (typeof KINDS)[number], name: string, version: string][] {
  return KINDS.flatMap((kind) =>
    Object.entries(manifest[kind] ?? {}).map(([name, version]): [typeof kind, string, string] => [
      kind,
      name,
      version,
    ]),
  );
}

function fileOf(folder: string): string {
  return folder === '' ? 'package.json' : `${folder}/package.json`;
}

export function findUnpinnedVersions(packages: Packages): string[] {
  return [...packages].flatMap(([folder, manifest]) =>
    dependenciesOf(manifest)
      .filter(([, , version]) => !EXACT.test(version))
      .map(([, name, version]) => `${fileOf(folder)} takes ${name} ${version}: pin one exact version.`),
  );
}

/** Two versions of one package in the workspaces are two packages: their types and classes do not match. */
export function findVersionConflicts(packages: Packages): string[] {
  const first = new Map<string, { folder: string; version: string }>();
  return [...packages].flatMap(([folder, manifest]) =>
    dependenciesOf(manifest).flatMap(([, name, version]) => {
      const known = first.get(name);
      if (known === undefined) first.set(name, { folder, version });
      if (known === undefined || known.version === version) return [];
      return [
        `${fileOf(folder)} takes ${name} ${version}, but ${fileOf(known.folder)} takes ${known.version}: take the same.`,
      ];
    }),
  );
}

export function checkOwnVersions(packages: Packages): string[] {
  const own = new Map([...packages.values()].map(({ name, version }) => [name, version]));
  return [...packages].flatMap(([folder, manifest]) =>
    dependenciesOf(manifest)
      .filter(([, name, version]) => own.has(name) && own.get(name) !== version)
      .map(
        ([, name, version]) =>
          `${fileOf(folder)} takes ${name} ${version}, which is ${own.get(name)}: name that version.`,
      ),
  );
}

export function checkEngines(packages: Packages): string[] {
  const node = packages.get('')?.engines?.node;
  return node && /^>=\d+/.test(node)
    ? []
    : ['package.json does not say in engines.node from which Node on it installs.'];
}

interface Locked extends Manifest {
  link?: boolean;
  resolved?: string;
}
export interface Lock {
  packages: Record<string, Locked>;
}

const REMEDY = 'run `npm install` and commit package-lock.json';

export function checkLockFile(packages: Packages, lock: Lock): string[] {
  const own = new Set([...packages.values()].map(({ name }) => name));
  const wrong = [...packages].flatMap(([folder, manifest]) => {
    const locked = lock.packages[folder];
    if (locked === undefined) return [`package-lock.json does not know ${fileOf(folder)}: ${REMEDY}.`];
    const listed = new Set(dependenciesOf(locked).map((one) => one.join(' ')));
    const wanted = new Set(dependenciesOf(manifest).map((one) => one.join(' ')));
    const differing = [...listed.symmetricDifference(wanted)].map(
      (one) => `package-lock.json and ${fileOf(folder)} disagree about ${one}: ${REMEDY}.`,
    );
    const missing = dependenciesOf(manifest).flatMap(([, name, version]) => {
      if (own.has(name)) return [];
      const installed =
        lock.packages[`${folder}/node_modules/${name}`] ?? lock.packages[`node_modules/${name}`];
      if (installed?.version === version) return [];
      return [
        `package-lock.json has ${name} ${installed?.version ?? 'nowhere'}, but ${fileOf(folder)} takes ${version}: ${REMEDY}.`,
      ];
    });
    return [...differing, ...missing];
  });
  const left = Object.keys(lock.packages).filter(
    (key) => !key.includes('node_modules/') && !packages.has(key),
  );
  return [
    ...wrong,
    ...left.map((key) => `package-lock.json knows ${key}, which has no package.json: ${REMEDY}.`),
  ];
}

/** An address in the lock file sends everyone who installs to one host, whatever registry they are set up to use. */
export function findRegistryHosts(lock: Lock): string[] {
  return Object.entries(lock.packages)
    .filter(([, { resolved, link }]) => resolved !== undefined && !link)
    .map(
      ([key, { resolved }]) =>
        `package-lock.json says that ${key} comes from ${resolved}: take the resolved line out (npm: omit-lockfile-registry-resolved).`,
    );
}
