/** What callers do to experiments of any kind: find, list, change and delete them, and list their runs. */
import { setImmediate } from 'node:timers/promises';
import type { ExperimentRun } from '@switchyard/contract/experiments/experiment-runs.ts';
import type { ApplicationId, ExperimentId } from '@switchyard/contract/schemas/ids.ts';
import type { ExperimentType } from '@switchyard/contract/states.ts';
import type { ApplicationsTable } from '../../applications/schema.ts';
import { getApplication } from '../../applications/store.ts';
import type { Clock } from '../../clock.ts';
import type { Database, Writer } from '../../database/database.ts';
import { notFound, quoteValue } from '../../http/errors/problem.ts';
import type { Caller, RawResponse } from '../../http/handlers/handler.ts';
import { type ListSource, nextBatchSize, streamJson } from '../../http/lists/list-responses.ts';
import {
  type Page,
  type PagePosition,
  type PageQueryValues,
  type PageTokens,
  parsePageRequest,
  slicePage,
} from '../../http/lists/pagination.ts';
import { parseTimeWindow, type WindowQueryValues } from '../../http/lists/time-window.ts';
import { validateName } from '../../http/requests/resource-names.ts';
import { listExperimentRuns } from '../../runs/store/experiment-runs.ts';
import type { ListedRun } from '../../runs/store/runs.ts';
import {
  deleteExperiment,
  findExperiment,
  listExperiments,
  lockExperiment,
  updateExperiment,
} from '../store/experiments.ts';
import type { ExperimentKind, ExperimentsTable } from '../store/schema.ts';
import { formatExperimentRuns } from './format-experiment.ts';

export interface ExperimentContext {
  database: Database;
  pageTokens: PageTokens;
  clock: Clock;
  /** Told when an experiment was deleted: there is something to remove. */
  onDeleted(): void;
}

/** `noun` is what one is called in sentences: "batch experiment". */
export interface ExperimentKindSettings {
  kind: ExperimentKind;
  displayName: string;
  /** Lists its runs; those that are marked as its own when nothing is said. */
  listRuns?: typeof listExperimentRuns;
}

/** An experiment with its application. */
export interface ExperimentWithApplication {
  application: ApplicationsTable;
  experiment: ExperimentsTable;
}

export type RunsResponse =
  | { status: 200; body: { runs: ExperimentRun[]; items?: ExperimentRun[]; next_page_token?: string } }
  | RawResponse;

type Changes = { name?: string | null | undefined; description?: string | null | undefined };
type ListQuery = PageQueryValues & WindowQueryValues;

export function experimentOperations(
  { database, pageTokens, clock, onDeleted }: ExperimentContext,
  { kind, displayName: noun, listRuns = listExperimentRuns }: ExperimentKindSettings,
) {
  const missing = (application: Pick<ApplicationsTable, 'id'>, id: ExperimentId) =>
    notFound(`There is no ${noun} ${quoteValue(id)} of application ${quoteValue(application.id)}.`);

  return {
    missing,

    /** The experiment that the caller means, or the 404 that says what there is not. */
    async find(
      caller: Caller,
      applicationId: ApplicationId,
      id: ExperimentId,
    ): Promise<ExperimentWithApplication> {
      const application = await getApplication(database.read, caller.account, applicationId);
      const experiment = await findExperiment(database.read, application.uid, kind, id);
      if (!experiment) throw missing(application, id);
      return { application, experiment };
    },

    /** The experiments that the query asks for, for `respondWithList`. */
    async listed<Body>(
      caller: Caller,
      applicationId: ApplicationId,
      query: ListQuery,
      how: { type?: ExperimentType | null; bodies: ListSource<ExperimentsTable, Body>['formatBodies'] },
    ): Promise<ListSource<ExperimentsTable, Body>> {
      const { type = null, bodies } = how;
      const application = await getApplication(database.read, caller.account, applicationId);
      const window = parseTimeWindow(query, clock.now());
      return {
        tokenScope: `${kind} ${application.uid} ${query.start ?? ''} ${query.end ?? ''} ${type ?? ''}`,
        query,
        queryRows: (page) => listExperiments(database.read, application.uid, { kind, type, window, page }),
        formatBodies: bodies,
      };
    },

    /** Changes name and description, and answers the experiment as it is then. */
    async update(
      { application, experiment }: ExperimentWithApplication,
      { name, description }: Changes,
    ): Promise<ExperimentsTable> {
      validateName(name, experiment.id);
      const changes = {
        ...(typeof name === 'string' ? { name } : {}),
        ...(typeof description === 'string' ? { description } : {}),
        updated_at: clock.now(),
      };
      return database.transact(async (tx) => {
        const held = await lockExperiment(tx, experiment.uid);
        if (!held) throw missing(application, experiment.id);
        await updateExperiment(tx, held.uid, changes);
        return { ...held, ...changes };
      });
    },

    /** Takes the experiment from callers; `also` is done in the same transaction. Its runs and rows go soon after. */
    async remove(
      { application, experiment }: ExperimentWithApplication,
      also?: (tx: Writer) => Promise<void>,
    ): Promise<void> {
      await database.transact(async (tx) => {
        if (!(await deleteExperiment(tx, experiment.uid, clock.now())))
          throw missing(application, experiment.id);
        await also?.(tx);
      });
      onDeleted();
    },

    /** Its runs, newest first: all of them, or a page when the query asks for one. */
    async runs(caller: Caller, { uid }: ExperimentsTable, query: PageQueryValues): Promise<RunsResponse> {
      const list = `runs of experiment ${uid}`;
      const { after, limit } = parsePageRequest(pageTokens, list, query);
      const first = await part(uid, after, limit ?? RUNS_AT_ONCE);
      if (limit === null && first.next)
        return streamJson('{"runs":', runsInJson(caller, uid, first, Number.POSITIVE_INFINITY), '}');
      const runs = await formatExperimentRuns(database.read, caller, first.items);
      return {
        status: 200,
        body: {
          runs,
          ...(query.pagereturn ? { items: runs } : {}),
          ...(first.next ? { next_page_token: pageTokens.encode(list, first.next) } : {}),
        },
      };
    },

    /** Answers the JSON object with `runs` in it: the newest of its runs, at most so many. */
    async withRuns(
      caller: Caller,
      { uid }: ExperimentsTable,
      most: number,
      object: string,
    ): Promise<RawResponse> {
      const first = await part(uid, null, RUNS_AT_ONCE);
      return streamJson(`${object.slice(0, -1)},"runs":`, runsInJson(caller, uid, first, most), '}');
    },
  };

  async function part(uid: string, after: PagePosition | null, size: number): Promise<Page<ListedRun>> {
    return slicePage(await listRuns(database.read, uid, { after, limit: size }), size, positionOf);
  }

  /** Thousands of runs are tens of megabytes: they go out in parts, between which others are answered. */
  async function* runsInJson(
    caller: Caller,
    uid: string,
    first: Page<ListedRun>,
    most: number,
  ): AsyncGenerator<string> {
    let left = most;
    yield '[';
    for (let page = first; ; ) {
      const runs = await formatExperimentRuns(database.read, caller, page.items.slice(0, left));
      const json = runs.map((run) => JSON.stringify(run)).join();
      // Runs that were in the list may be gone when their part is read.
      if (json !== '') yield page === first ? json : `,${json}`;
      left -= runs.length;
      if (!page.next || left <= 0) break;
      await setImmediate();
      const size = nextBatchSize(page.items.length, json.length, RUNS_AT_ONCE);
      page = await part(uid, page.next, Math.min(left, size));
    }
    yield ']';
  }
}

const RUNS_AT_ONCE = 100;

function positionOf({ created_at, id }: { created_at: number; id: string }): PagePosition {
  return { at: created_at, id };
}
