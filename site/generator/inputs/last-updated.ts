import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { format } from 'date-fns/format';
import { parseISO } from 'date-fns/parseISO';
import type { LastUpdated } from '../../page-data.ts';
import { runGit } from './git.ts';

/**
 * Reads when each file below a folder was last committed, in one pass over the history. A file that git has not seen yet
 * has the date of the file itself. Without git, as in an unpacked archive, and for what a shallow clone has only from its
 * oldest commit, which says nothing of what came before, nobody knows.
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
 * Reads when a line that fits a pattern first stood in any file of a folder, so that it keeps its date when it moves to
 * another file. What git has not seen has the date of the file that has it now.
 */
export function findFirstCommitDate(folder: string, path: string, pattern: string): string {
  const log = runGit(folder, 'log', '--reverse', '--format=%cI', `-G${pattern}`, '--', '.');
  return log?.split('\n')[0] || statSync(path).mtime.toISOString();
}

/** A day as readers see it. parseISO keeps the day its author saw, on any machine, only without the time and offset. */
export function formatDay(iso: string): string {
  return format(parseISO(iso.slice(0, 10)), 'MMMM d, yyyy');
}
