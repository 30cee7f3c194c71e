/**
 * The production dependencies of a Node app, from the folder where npm installed them. The app runs without npm and
 * network, so the archive has them under `node_modules/`.
 */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface Dependency {
  /** Folder on this machine. */
  folder: string;
  /** Folder in the archive, such as `node_modules/highs`. */
  target: string;
}

interface PackageFile {
  version?: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

/** Lists every dependency of the app, of its dependencies and so on. Throws for one that is not installed. */
export function listDependencies(appFolder: string): Dependency[] {
  const placed = new Map<string, string>();
  const found: Dependency[] = [];

  const add = (folder: string, target: string): void => {
    const { dependencies = {}, optionalDependencies = {} } = readPackage(folder);
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const source = locate(folder, name);
      if (source === undefined) {
        if (name in optionalDependencies) continue;
        throw new Error(
          `${join(appFolder, 'package.json')} depends on ${name}, which is not installed; run npm install first.`,
        );
      }
      // The top is shared; a second version of the same package goes below the one that needs it.
      const top = `node_modules/${name}`;
      const place = !placed.has(top) || placed.get(top) === source ? top : `${target}/node_modules/${name}`;
      if (placed.get(place) === source) continue;
      placed.set(place, source);
      found.push({ folder: source, target: place });
      add(source, place);
    }
  };

  add(realpathSync(appFolder), '.');
  return found;
}

function readPackage(folder: string): PackageFile {
  const path = join(folder, 'package.json');
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
}

/** Returns the folder in which Node finds the package from a module in `folder`; undefined when there is none. */
function locate(folder: string, name: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const candidate = join(at, 'node_modules', name);
    if (existsSync(join(candidate, 'package.json'))) return realpathSync(candidate);
    if (dirname(at) === at) return undefined;
  }
}
