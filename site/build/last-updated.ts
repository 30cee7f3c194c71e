import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { format } from 'date-fns/format';
import { parseISO } from 'date-fns/parseISO';
import type { LastUpdated } from '../page-data.ts';
import { git } from './git.ts';

/**
 * Reads when each file below a folder was last committed, in one pass over the history. A file that git does not know,
 * as in an unpacked archive or before its first commit, has the date of the file itself.
 */
export function readDates(folder: string): (path: string) => LastUpdated {
  const dates = new Map<string, string>();
  const top = git(folder, 'rev-parse', '--show-toplevel')?.trim();
  const log = git(
    folder,
    '-c',
    'core.quotePath=false',
    'log',
    '--format=\t%cI',
    '--name-only',
    '--no-renames',
    '--',
    '.',
  );
  if (top !== undefined && log !== undefined) {
    let date = '';
    for (const line of log.split('\n')) {
      if (line.startsWith('\t')) date = line.slice(1);
      else if (line !== '' && !dates.has(join(top, line))) dates.set(join(top, line), date);
    }
  }
  return (path) => {
    const iso = dates.get(resolve(path)) ?? statSync(path).mtime.toISOString();
    return { iso, text: shownDay(iso) };
  };
}

/**
 * Reads when a line that fits a pattern first stood in any file of a folder, so that it keeps its date when it moves to
 * another file. What git has not seen has the date of the file that has it now.
 */
export function firstSeen(folder: string, path: string, pattern: string): string {
  const log = git(folder, 'log', '--reverse', '--format=%cI', `-G${pattern}`, '--', '.');
  return log?.split('\n')[0] || statSync(path).mtime.toISOString();
}

/** A day as readers see it. parseISO keeps the day its author saw, on any machine, only without the time and offset. */
export function shownDay(iso: string): string {
  return format(parseISO(iso.slice(0, 10)), 'MMMM d, yyyy');
}
