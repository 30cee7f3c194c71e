/**
 * The production dependencies of a Node app, from the folder where npm installed them. The app runs without npm and
 * network, so the archive has them under `node_modules/`.
 */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createJsonParser } from '@switchyard/contract/schemas/json-parser.ts';
import Type, { type Static } from 'typebox';
import { CommandError } from '../errors/command-error.ts';
import { type FoundFile, isBelow, listFolder, refuseProblems } from './folder-files.ts';

const PackageFile = Type.Object({
  version: Type.Optional(Type.String()),
  dependencies: Type.Optional(Type.Record(Type.String(), Type.String())),
  optionalDependencies: Type.Optional(Type.Record(Type.String(), Type.String())),
  workspaces: Type.Optional(Type.Unknown()),
});
type PackageFile = Static<typeof PackageFile>;
const parsePackage = createJsonParser(PackageFile);

/**
 * Lists the files of every dependency of the app, of its dependencies and so on, by their names in the archive. Throws
 * CommandError for a dependency that is not installed or is a link to another place of this machine.
 */
export function listDependencies(appFolder: string): FoundFile[] {
  const placed = new Map<string, string>();
  const found: FoundFile[] = [];
  const root = realpathSync(appFolder);

  const add = (folder: string, target: string): void => {
    const { dependencies = {}, optionalDependencies = {} } = readPackage(folder);
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      if (!PACKAGE_NAME.test(name))
        throw new CommandError(
          `${join(folder, 'package.json')} depends on ${JSON.stringify(name)}, which is not the name of a package.`,
        );
      const source = locate(folder, name);
      if (source === undefined) {
        if (name in optionalDependencies) continue;
        throw new CommandError(
          `${join(appFolder, 'package.json')} depends on ${name}, which is not installed; run npm install first.`,
        );
      }
      // The top is shared; a second version of the same package goes below the one that needs it.
      const top = `node_modules/${name}`;
      const place = !placed.has(top) || placed.get(top) === source ? top : `${target}/node_modules/${name}`;
      if (placed.get(place) === source) continue;
      placed.set(place, source);
      refuseForeign(root, { name, source });
      found.push(...listFiles(source, place));
      add(source, place);
    }
  };

  add(root, '.');
  return found;
}

function readPackage(folder: string): PackageFile {
  const path = join(folder, 'package.json');
  if (!existsSync(path)) return {};
  try {
    return parsePackage(readFileSync(path, 'utf8'), path);
  } catch (error) {
    throw new CommandError(error instanceof Error ? error.message : String(error));
  }
}

/** A package with a path as its name would lead out of `node_modules`. */
const PACKAGE_NAME = /^(@[\w~][\w.~-]*\/)?[\w~-][\w.~-]*$/;

/**
 * Throws CommandError for a package that is a link to a folder outside of the app. Links of package managers lead to a
 * `node_modules` of a folder around the app, and those of workspaces to the folder of the workspaces.
 */
function refuseForeign(root: string, { name, source }: { name: string; source: string }): void {
  for (let folder = root; ; folder = dirname(folder)) {
    const isOwn = folder === root || hasWorkspaces(folder);
    if (isBelow(isOwn ? folder : join(folder, 'node_modules'), source)) return;
    if (dirname(folder) === folder) break;
  }
  throw new CommandError(
    `node_modules/${name} in ${root} is a link to ${source}, outside of the folder. Nothing was sent. Install a copy: npm install --install-links.`,
  );
}

function hasWorkspaces(folder: string): boolean {
  return existsSync(join(folder, 'pnpm-workspace.yaml')) || readPackage(folder).workspaces !== undefined;
}

/** Lists the files of a package, without the packages in it: those that it needs get places of their own. */
function listFiles(folder: string, place: string): FoundFile[] {
  const { files } = listFolder(folder, '', (name) =>
    ['node_modules', '.git'].includes(basename(name)) ? 'a folder of a tool' : undefined,
  );
  refuseProblems(folder, files);
  return files.map(({ name, path }) => ({ name: `${place}/${name}`, path }));
}

/** Returns the folder in which Node finds the package from a module in `folder`; undefined when there is none. */
function locate(folder: string, name: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const candidate = join(at, 'node_modules', name);
    if (existsSync(join(candidate, 'package.json'))) return realpathSync(candidate);
    if (dirname(at) === at) return undefined;
  }
}
