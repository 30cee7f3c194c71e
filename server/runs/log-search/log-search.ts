/**
 * Searches logs, one request after the other: many searches at the same time would delay all other requests. A member with
 * many waiting searches waits for those of other members.
 */
import { LOG_SEARCH_RUNS_MAX } from '@switchyard/contract/limits.ts';
import type { LogMatch } from '@switchyard/contract/runs/logs/log-search.ts';
import {
  type AccountId,
  type ApplicationId,
  idSchema,
  type RunId,
} from '@switchyard/contract/schemas/ids.ts';
import PQueue from 'p-queue';
import Type, { type Static } from 'typebox';
import { findDamagedBlobError } from '../../platform/blobs/verified-blobs.ts';
import type { Clock } from '../../platform/clock.ts';
import { listRunPage } from '../listing/list-run-page.ts';
import type { RunFilter } from '../listing/run-filter.ts';
import type { RunList } from '../listing/visible-filter.ts';
import { findLogContents, type ListedRun } from '../store/runs.ts';
import { LineMatcher, type LogQuery } from './line-matcher.ts';
import {
  type FoundLines,
  SearchBudget,
  type SearchedRun,
  type SearchParts,
  SearchPosition,
  searchLog,
} from './search-log.ts';

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
