/**
 * The navigation by tasks of readers. Addresses come from folders, so a page stays at its address when its task changes.
 * The file `tasks.yaml` of the content lists the pages of each task.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { NavigationEntry } from '../../page-data.ts';
import type { ContentRoot } from '../inputs/content-files.ts';
import type { Problem } from '../inputs/problems.ts';
import { flattenNavigation } from './navigation.ts';

/** A task of readers, and the pages of each of its groups. */
export type Task = { label: string; groups: { label: string; pages: string[] }[] };

const TASKS_FILE_NAME = 'tasks.yaml';

/** Reads the tasks of a content folder; undefined without the file, which only contents of tests lack. */
export function readTasks({ folder }: ContentRoot): Task[] | undefined {
  const path = join(folder, TASKS_FILE_NAME);
  return existsSync(path) ? parse(readFileSync(path, 'utf8')) : undefined;
}

/**
 * Returns the navigation with a folder for each task and each of its groups. Adds a problem for every path that is no page
 * or folder, and for every page that no task has.
 */
export function arrangeByTask(
  navigation: NavigationEntry[],
  tasks: readonly Task[],
  content: ContentRoot,
  problems: Problem[],
): NavigationEntry[] {
  const listed = new Set(tasks.flatMap(({ groups }) => groups.flatMap(({ pages }) => pages)));
  const report = (message: string) =>
    problems.push({ file: `${content.name}/${TASKS_FILE_NAME}`, line: 1, message });
  const arranged = tasks.map(({ label, groups }, taskOrder) => ({
    slug: label,
    label,
    navOrder: taskOrder,
    subpages: groups.map((group, navOrder) => ({
      slug: group.label,
      label: group.label,
      navOrder,
      subpages: group.pages.flatMap((path) => {
        const entry = findEntry(navigation, path.split('/'));
        if (!entry) report(`The task "${label}" has "${path}", which is neither a page nor a folder.`);
        return entry ? selectPages(entry, path, listed) : [];
      }),
    })),
  }));
  const placed = new Set(flattenNavigation(arranged).map(({ route }) => route));
  for (const { route } of flattenNavigation(navigation))
    if (!placed.has(route)) report(`The page ${route} is in no task; add its path to one.`);
  return arranged;
}

function findEntry(entries: NavigationEntry[], [slug, ...rest]: string[]): NavigationEntry | undefined {
  const entry = entries.find((candidate) => candidate.slug === slug);
  return rest.length === 0 || !entry ? entry : findEntry(entry.subpages ?? [], rest);
}

/** Returns a page with the pages below it, or the pages of a folder, without those that are listed by themselves. */
function selectPages(entry: NavigationEntry, path: string, listed: ReadonlySet<string>): NavigationEntry[] {
  const { subpages = [], ...rest } = entry;
  const below = subpages.flatMap((child) => {
    const childPath = `${path}/${child.slug}`;
    return listed.has(childPath) ? [] : selectPages(child, childPath, listed);
  });
  if (rest.route === undefined && rest.externalUrl === undefined) return below;
  return [{ ...rest, slug: path, ...(below.length > 0 && { subpages: below }) }];
}
