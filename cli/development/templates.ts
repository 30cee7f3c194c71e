/** The templates of new apps: each is a folder with a complete app. */
import { cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
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
  return readdirSync(TEMPLATES)
    .sort()
    .map((name) => {
      const folder = join(TEMPLATES, name);
      return { name, description: readAppManifest(folder).manifest.description ?? '', folder };
    });
}

/** Copies the files of the template into the folder, and returns their names. Throws rather than replace a file. */
export function copyTemplate(template: Template, folder: string): string[] {
  const names = readdirSync(template.folder).sort();
  const present = names.filter((name) => existsSync(join(folder, name)));
  if (present.length > 0)
    throw new CommandError(
      `${folder} has ${present.join(', ')} already, which the template would replace. Choose another folder.`,
    );
  mkdirSync(folder, { recursive: true });
  for (const name of names) cpSync(join(template.folder, name), join(folder, name), { recursive: true });
  return names;
}
