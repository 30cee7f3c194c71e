import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { format } from 'date-fns/format';
import { parseISO } from 'date-fns/parseISO';
import type { LastUpdated } from '../../page-data.ts';
import { runGit } from './git.ts';

/**
 * Reads the date of the last commit of each file below a folder, in one pass over the history. A file that is not in git
 * yet has its modification time. Returns undefined without git, as in an unpacked archive. It also returns undefined for
 * files of the oldest commit of a shallow clone, because their last change may be older.
 */
export function readCommitDates(folder: string): (path: string) => LastUpdated | undefined {
  const dates = new Map<string, string | undefined>();
  const top = runGit(folder, 'rev-parse', '--show-toplevel')?.trim();
  const shallow = runGit(folder, 'rev-parse', '--is-shallow-repository')?.trim() === 'true';
  const log = runGit(
    folder,
    '-c',
    'core.quotePath=false',
    'log',
    '--format=\t%cI %P',
    '--name-only',
    '--no-renames',
    '--',
    '.',
  );
  if (top !== undefined && log !== undefined) {
    let date: string | undefined;
    for (const line of log.split('\n')) {
      if (line.startsWith('\t')) {
        const [when, ...parents] = line.trim().split(' ');
        date = shallow && parents.length === 0 ? undefined : when;
      } else if (line !== '' && !dates.has(join(top, line))) dates.set(join(top, line), date);
    }
  }
  return (path) => {
    if (dates.size === 0) return undefined;
    const known = resolve(path);
    const iso = dates.has(known) ? dates.get(known) : statSync(path).mtime.toISOString();
    return iso === undefined ? undefined : { iso, text: formatDay(iso) };
  };
}

/**
 * Reads the date of the first commit with a line that matches a pattern in any file of a folder. So the line keeps its
 * date when it moves to another file. A line that is not in git yet has the modification time of its file.
 */
export function findFirstCommitDate(folder: string, path: string, pattern: string): string {
  const log = runGit(folder, 'log', '--reverse', '--format=%cI', `-G${pattern}`, '--', '.');
  return log?.split('\n')[0] || statSync(path).mtime.toISOString();
}

/** Formats a day for readers. Without time and offset, parseISO keeps the author's day in every time zone. */
export function formatDay(iso: string): string {
  return format(parseISO(iso.slice(0, 10)), 'MMMM d, yyyy');
}
