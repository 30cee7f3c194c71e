import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Problem } from './problems.ts';

/** A content file: its path on disk, its name in messages, and the segments of its route. */
export type ContentFile = { path: string; name: string; segments: string[] };

/** A folder of content, and its name in messages. */
export type ContentRoot = { folder: string; name: string };

/** The file with the `label` and `navOrder` of a folder that has no page of its own. */
const FOLDER_FILE_NAME = 'folder.yaml';

const segmentPattern = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** Lists the pages (`.md`) and folder files below a content folder, by path. Adds invalid names to `problems`. */
export function listContent(
  root: ContentRoot,
  problems: Problem[],
): { pages: ContentFile[]; folders: ContentFile[] } {
  const pages: ContentFile[] = [];
  const folders: ContentFile[] = [];
  const entries = readdirSync(root.folder, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const inRoot = relative(root.folder, path);
    const isFolderFile = entry.name === FOLDER_FILE_NAME;
    if (!isFolderFile && !entry.name.endsWith('.md')) continue;
    const segments = (
      isFolderFile ? inRoot.slice(0, -FOLDER_FILE_NAME.length - 1) : inRoot.slice(0, -'.md'.length)
    ).split(/[\\/]/);
    const file = { path, name: `${root.name}/${inRoot}`, segments };
    const wrong = segments.find((segment) => !segmentPattern.test(segment));
    if (wrong !== undefined) {
      problems.push({
        file: file.name,
        line: 1,
        message: `The name "${wrong}" would become part of an address; use lowercase letters, digits and single hyphens.`,
      });
    }
    (isFolderFile ? folders : pages).push(file);
  }
  const byName = (a: ContentFile, b: ContentFile) => (a.name < b.name ? -1 : 1);
  return { pages: pages.sort(byName), folders: folders.sort(byName) };
}
