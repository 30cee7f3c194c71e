/** The templates of new apps: each is a folder with a complete app. A file beside the folders is a part of every app. */
import { cpSync, type Dirent, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError } from '../errors/command-error.ts';
import { readAppManifest } from '../packing/manifest.ts';

/** In the package and in a clone of the repository, the folder is beside that of this file. */
const TEMPLATES = join(import.meta.dirname, '..', 'templates');

export interface Template {
  name: string;
  /** One sentence. */
  description: string;
  folder: string;
}

/** Lists the templates by name. */
export function listTemplates(): Template[] {
  return listEntries((entry) => entry.isDirectory())
    .sort()
    .map((name) => {
      const folder = join(TEMPLATES, name);
      return { name, description: readAppManifest(folder).manifest.description ?? '', folder };
    });
}

function listEntries(isWanted: (entry: Dirent) => boolean): string[] {
  return readdirSync(TEMPLATES, { withFileTypes: true })
    .filter(isWanted)
    .map(({ name }) => name);
}

/** Copies the files of the template into the folder, and returns their names. Throws rather than replace a file. */
export function copyTemplate(template: Template, folder: string): string[] {
  const sources = new Map([
    ...listEntries((entry) => entry.isFile()).map((name) => [name, join(TEMPLATES, name)] as const),
    ...readdirSync(template.folder).map((name) => [name, join(template.folder, name)] as const),
  ]);
  const names = [...sources.keys()].sort();
  const present = names.filter((name) => existsSync(join(folder, name)));
  if (present.length > 0)
    throw new CommandError(
      `${folder} has ${present.join(', ')} already, which the template would replace. Choose another folder.`,
    );
  mkdirSync(folder, { recursive: true });
  for (const [name, source] of sources) cpSync(source, join(folder, name), { recursive: true });
  return names;
}
