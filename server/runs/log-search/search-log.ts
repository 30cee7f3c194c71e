/** Searches the log of one run from a position on, within a budget of bytes and time. */
import { LOG_SEARCH_BYTES_MAX } from '@switchyard/contract/limits.ts';
import type { LogMatch } from '@switchyard/contract/runs/logs/log-search.ts';
import type { AccountId, ApplicationId, RunId } from '@switchyard/contract/schemas/ids.ts';
import { isTerminal, type RunStatusV2 } from '@switchyard/contract/states.ts';
import { LineTimes } from '@switchyard/worker/log/line-times.ts';
import Type, { type Static } from 'typebox';
import type { Contents } from '../../platform/blobs/contents.ts';
import { type Clock, formatRfc3339 } from '../../platform/clock.ts';
import type { Database, Reader } from '../../platform/database/database.ts';
import { findLogTimes } from '../logs/log-times.ts';
import { readLogPage } from '../logs/run-logs.ts';
import type { LineMatcher } from './line-matcher.ts';
import { LOG_START, LogPosition, readLines } from './read-lines.ts';

/** A request examines logs for at most about this time. Longer searches continue with the next page. */
const SEARCH_MS_MAX = 300;

/** The bytes and the time that remain to a request. */
export class SearchBudget {
  readonly #clock: Clock;
  readonly #end: number;
  bytes = LOG_SEARCH_BYTES_MAX;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#end = clock.elapsed() + SEARCH_MS_MAX;
  }

  get isSpent(): boolean {
    return this.bytes <= 0 || this.#clock.elapsed() >= this.#end;
  }
}

/** A run as a search needs it. */
export interface SearchedRun {
  id: RunId;
  account: AccountId;
  application: ApplicationId;
  status: RunStatusV2;
  /** The content with the log of an ended run; null for none. */
  logContent: string | null;
}

/** The position where a search continues. */
export const SearchPosition = Type.Object({
  /** The position in the stored log of an ended run. */
  stored: Type.Optional(LogPosition),
  /** The token of the page before, and the number of lines before the page, in the log of an active run. */
  live: Type.Optional(Type.Object({ since: Type.String(), lines: Type.Number() })),
  /** Number of the last line of the previous page. */
  lastLine: Type.Number(),
});
export type SearchPosition = Static<typeof SearchPosition>;

/** One search in one log. */
export interface LogRequest {
  matcher: LineMatcher;
  /** Null: from the first line. */
  from: SearchPosition | null;
  limit: number;
  budget: SearchBudget;
}

/** The lines that a search found. */
export interface FoundLines {
  lines: LogMatch[];
  /** The position where the search continues; null when everything that is stored now was examined. */
  next: SearchPosition | null;
}

export interface SearchParts {
  database: Pick<Database, 'read' | 'readInOrder'>;
  contents: Contents;
}

/**
 * Returns the next matching lines. A search that began while the run was active continues in its chunks, because the
 * finished log may begin at a later attempt of the run.
 */
export function searchLog(parts: SearchParts, run: SearchedRun, request: LogRequest): Promise<FoundLines> {
  const isLive = request.from === null ? !isTerminal(run.status) : request.from.live !== undefined;
  return isLive ? searchLiveLog(parts, run, request) : searchStoredLog(parts, run, request);
}

async function searchStoredLog(
  { database, contents }: SearchParts,
  run: SearchedRun,
  { matcher, from, limit, budget }: LogRequest,
): Promise<FoundLines> {
  const content = run.logContent === null ? undefined : await contents.find(run.logContent);
  if (!content) return { lines: [], next: null };
  const found: FoundLines['lines'] = [];
  let stored = from?.stored ?? LOG_START;
  let lastLine = from?.lastLine ?? 0;
  const finish = async (): Promise<FoundLines> => ({
    lines: await addTimes(database.read, run.id, found),
    next: stored.offset >= content.bytes ? null : { stored, lastLine },
  });
  for await (const { text, start, end } of readLines(content, stored, budget.bytes)) {
    budget.bytes -= end.offset - start.offset;
    stored = start;
    for (const { index, ...match } of end.lines > start.lines ? matcher.findLines(text) : []) {
      const line = start.lines + index + 1;
      if (line <= lastLine) continue;
      if (found.length === limit) return finish();
      found.push({ line, ...match });
      lastLine = line;
    }
    stored = end;
    if (budget.isSpent) break;
  }
  return finish();
}

async function addTimes(db: Reader, run: RunId, lines: readonly LogMatch[]): Promise<LogMatch[]> {
  const bytes = lines.length === 0 ? undefined : await findLogTimes(db, run);
  if (!bytes) return [...lines];
  const times = new LineTimes(bytes);
  return lines.map((match) => {
    const at = times.find(match.line);
    return at === undefined ? match : { ...match, timestamp: formatRfc3339(at) };
  });
}

async function searchLiveLog(
  { database }: SearchParts,
  { id, account, application }: SearchedRun,
  { matcher, from, limit, budget }: LogRequest,
): Promise<FoundLines> {
  const found: LogMatch[] = [];
  let { since, lines } = from?.live ?? { since: '', lines: 0 };
  let lastLine = from?.lastLine ?? 0;
  for (;;) {
    const page = await readLogPage(database.read, { account, application, id, since });
    if (!page) return { lines: found, next: null };
    let line = lines;
    for (const { timestamp, log } of page.items) {
      line += 1;
      budget.bytes -= log.length;
      if (line <= lastLine) continue;
      for (const { index: _, ...match } of matcher.findLines(log)) {
        if (found.length === limit) return { lines: found, next: { live: { since, lines }, lastLine } };
        found.push({ line, timestamp, ...match });
        lastLine = line;
      }
    }
    since = page.token ?? since;
    lines = line;
    if (page.isComplete) return { lines: found, next: null };
    if (budget.isSpent) return { lines: found, next: { live: { since, lines }, lastLine } };
  }
}
