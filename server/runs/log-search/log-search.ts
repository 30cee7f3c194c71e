/**
 * Searches logs, one request after the other: many searches at the same time would delay all other requests. A member with
 * many waiting searches waits for those of other members.
 */
import { LOG_SEARCH_BYTES_MAX, LOG_SEARCH_RUNS_MAX } from '@switchyard/contract/limits.ts';
import type { LogMatch } from '@switchyard/contract/runs/logs/log-search.ts';
import {
  type AccountId,
  type ApplicationId,
  idSchema,
  type RunId,
} from '@switchyard/contract/schemas/ids.ts';
import { isTerminal, type RunStatusV2 } from '@switchyard/contract/states.ts';
import { LineTimes } from '@switchyard/worker/log/line-times.ts';
import PQueue from 'p-queue';
import Type, { type Static } from 'typebox';
import type { Contents } from '../../platform/blobs/contents.ts';
import { findDamagedBlobError } from '../../platform/blobs/verified-blobs.ts';
import { type Clock, formatRfc3339 } from '../../platform/clock.ts';
import type { Database, Reader } from '../../platform/database/database.ts';
import { listRunPage } from '../listing/list-run-page.ts';
import type { RunFilter } from '../listing/run-filter.ts';
import type { RunList } from '../listing/visible-filter.ts';
import { findLogTimes } from '../logs/log-times.ts';
import { readLogPage } from '../logs/run-logs.ts';
import { findLogContents, type ListedRun } from '../store/runs.ts';
import { LineMatcher, type LogQuery } from './line-matcher.ts';
import { LOG_START, LogPosition, readLines } from './read-lines.ts';

/** A request examines logs for at most about this time. Longer searches continue with the next page. */
const SEARCH_MS_MAX = 300;

/** The bytes and the time that remain to a request. */
class SearchBudget {
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
interface SearchedRun {
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
interface LogRequest {
  matcher: LineMatcher;
  /** Null: from the first line. */
  from: SearchPosition | null;
  limit: number;
  budget: SearchBudget;
}

/** The lines that a search found. */
interface FoundLines {
  lines: LogMatch[];
  /** The position where the search continues; null when everything that is stored now was examined. */
  next: SearchPosition | null;
}

interface SearchParts {
  database: Pick<Database, 'read' | 'readInOrder'>;
  contents: Contents;
}

/**
 * Returns the next matching lines. A search that began while the run was active continues in its chunks, because the
 * finished log may begin at a later attempt of the run.
 */
function searchLog(parts: SearchParts, run: SearchedRun, request: LogRequest): Promise<FoundLines> {
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

const RUNS_PER_PAGE = 50;
/** Lines of one run in a search over runs. */
const LINES_PER_RUN = 3;

/** The position in a search over runs. */
export const RunsSearchPosition = Type.Object({
  /** The last run that is done; null before the first. */
  after: Type.Union([
    Type.Object({ at: Type.Number(), id: Type.String(), value: Type.Optional(Type.String()) }),
    Type.Null(),
  ]),
  /** The run after it, if a part of its log is done. */
  within: Type.Union([Type.Object({ run: idSchema<RunId>('The run.'), at: SearchPosition }), Type.Null()]),
});
export type RunsSearchPosition = Static<typeof RunsSearchPosition>;

/** A search over the runs of an application. */
export interface RunsRequest {
  member: string;
  account: AccountId;
  application: ApplicationId;
  list: RunList;
  filter: RunFilter;
  query: LogQuery;
  from: RunsSearchPosition;
  /** The maximum number of runs with matching lines. */
  limit: number;
}

/** Runs with matching lines. */
export interface FoundRuns {
  runs: { run: ListedRun; lines: LogMatch[]; hasMoreLines: boolean }[];
  examined: number;
  unreadable: number;
  /** Null when all runs are examined. */
  next: RunsSearchPosition | null;
}

/** The searches of this process. */
export class LogSearch {
  readonly #parts: SearchParts & { clock: Clock };
  readonly #searches = new PQueue({ concurrency: 1 });
  /** The unfinished searches of each member. */
  readonly #unfinished = new Map<string, number>();

  constructor(parts: SearchParts & { clock: Clock }) {
    this.#parts = parts;
  }

  /** Returns the next matching lines of a run. Throws DamagedBlobError. */
  searchRun(
    member: string,
    run: SearchedRun,
    { query, from, limit }: { query: LogQuery; from: SearchPosition | null; limit: number },
  ): Promise<FoundLines> {
    const matcher = new LineMatcher(query);
    return this.#enqueue(member, () => {
      const budget = new SearchBudget(this.#parts.clock);
      return searchLog(this.#parts, run, { matcher, from, limit, budget });
    });
  }

  /** Returns the next runs with matching lines, in the order of the filter. A run with a damaged log is counted only. */
  searchRuns(request: RunsRequest): Promise<FoundRuns> {
    return this.#enqueue(request.member, () => new RunsSearch(this.#parts, request).search());
  }

  /** Runs the search after those that wait, except the later searches of members with more of them. */
  async #enqueue<Found>(member: string, search: () => Promise<Found>): Promise<Found> {
    const before = this.#unfinished.get(member) ?? 0;
    this.#unfinished.set(member, before + 1);
    try {
      return await this.#searches.add(search, { priority: -before });
    } finally {
      const remaining = (this.#unfinished.get(member) ?? 1) - 1;
      if (remaining > 0) this.#unfinished.set(member, remaining);
      else this.#unfinished.delete(member);
    }
  }
}

/** One request of a search over runs. */
class RunsSearch {
  readonly #parts: SearchParts & { clock: Clock };
  readonly #request: RunsRequest;
  readonly #matcher: LineMatcher;
  readonly #budget: SearchBudget;
  readonly #found: FoundRuns = { runs: [], examined: 0, unreadable: 0, next: null };

  constructor(parts: SearchParts & { clock: Clock }, request: RunsRequest) {
    this.#parts = parts;
    this.#request = request;
    this.#matcher = new LineMatcher(request.query);
    this.#budget = new SearchBudget(parts.clock);
  }

  async search(): Promise<FoundRuns> {
    const { database, clock } = this.#parts;
    let { after, within } = this.#request.from;
    for (;;) {
      const page = await listRunPage({ database, clock }, this.#request.list, this.#request.filter, {
        after,
        limit: RUNS_PER_PAGE,
        isProduction: false,
      });
      const contents = await findLogContents(
        database.read,
        page.items.map(({ id }) => id),
      );
      for (const run of page.items) {
        // The first run is examined however long the list took: a client that reads on would else not advance.
        if (this.#found.examined > 0 && this.#isFull()) return { ...this.#found, next: { after, within } };
        const from = within?.run === run.id ? within.at : null;
        const rest = await this.#searchRun(run, contents.get(run.id) ?? null, from);
        if (rest) return { ...this.#found, next: { after, within: { run: run.id, at: rest } } };
        after = { at: run.created_at, id: run.id };
        within = null;
        this.#found.examined += 1;
      }
      if (!page.next) return this.#found;
      after = page.next;
      // A page of a filter that few runs satisfy can be empty although others follow.
      if (this.#isFull()) return { ...this.#found, next: { after, within } };
    }
  }

  #isFull(): boolean {
    const { runs, examined } = this.#found;
    return runs.length >= this.#request.limit || examined >= LOG_SEARCH_RUNS_MAX || this.#budget.isSpent;
  }

  /** Returns the position where the search of this run continues, or null when the run is done. */
  async #searchRun(
    run: ListedRun,
    logContent: string | null,
    from: SearchPosition | null,
  ): Promise<SearchPosition | null> {
    const { account, application } = this.#request;
    const searched = { id: run.id, account, application, status: run.status, logContent };
    const request = { matcher: this.#matcher, from, limit: LINES_PER_RUN, budget: this.#budget };
    try {
      const { lines, next } = await searchLog(this.#parts, searched, request);
      if (lines.length === 0) return next;
      this.#found.runs.push({ run, lines, hasMoreLines: next !== null });
    } catch (error) {
      if (!findDamagedBlobError(error)) throw error;
      this.#found.unreadable += 1;
    }
    return null;
  }
}
