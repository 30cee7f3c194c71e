/** The runs of an experiment in responses: as their own list, and inside the body of the experiment. */
import { setImmediate } from 'node:timers/promises';
import { formatMarkedJson } from '@switchyard/contract/exact-json.ts';
import type { ExperimentRun } from '@switchyard/contract/experiments/experiment-runs.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import type { Caller, RawResponse } from '../../platform/http/handlers/handler.ts';
import { computeNextBatchSize, streamJson } from '../../platform/http/lists/list-responses.ts';
import {
  type Page,
  type PagePosition,
  type PageQueryValues,
  parsePageRequest,
  slicePage,
} from '../../platform/http/lists/pagination.ts';
import { listExperimentRuns } from '../../runs/store/experiment-runs.ts';
import type { ListedRun } from '../../runs/store/runs.ts';
import type { ExperimentsTable } from '../store/schema.ts';
import { formatExperimentRuns } from './format-experiment.ts';

const BATCH_SIZE = 100;

interface ExperimentRuns {
  caller: Caller;
  experiment: ExperimentsTable;
  /** Lists the runs; the default lists those with the uid of the experiment. */
  listRuns?: typeof listExperimentRuns;
}

type RunsResponse =
  | { status: 200; body: { runs: ExperimentRun[]; items?: ExperimentRun[]; next_page_token?: string } }
  | RawResponse;

/** Responds with all runs, newest first, or with a page when the query requests one. */
export async function respondWithRuns(
  { database, pageTokens }: Pick<Context, 'database' | 'pageTokens'>,
  source: ExperimentRuns,
  query: PageQueryValues,
): Promise<RunsResponse> {
  const tokenScope = `runs of experiment ${source.experiment.uid}`;
  const { after, limit } = parsePageRequest(pageTokens, tokenScope, query);
  const first = await readPage({ database }, source, { after, size: limit ?? BATCH_SIZE });
  if (limit === null && first.next)
    return streamJson('{"runs":', streamRuns({ database }, source, first, Number.POSITIVE_INFINITY), '}');
  const runs = await formatExperimentRuns(database.read, source.caller, first.items);
  return {
    status: 200,
    body: {
      runs,
      ...(query.pagereturn ? { items: runs } : {}),
      ...(first.next ? { next_page_token: pageTokens.encode(tokenScope, first.next) } : {}),
    },
  };
}

/** Responds with the JSON object and the additional field `runs`: the newest runs, at most `runsMax`. */
export async function respondWithEmbeddedRuns(
  { database }: Pick<Context, 'database'>,
  source: ExperimentRuns,
  object: string,
  runsMax: number,
): Promise<RawResponse> {
  const first = await readPage({ database }, source, { after: null, size: BATCH_SIZE });
  return streamJson(`${object.slice(0, -1)},"runs":`, streamRuns({ database }, source, first, runsMax), '}');
}

async function readPage(
  { database }: Pick<Context, 'database'>,
  { experiment, listRuns = listExperimentRuns }: ExperimentRuns,
  { after, size }: { after: PagePosition | null; size: number },
): Promise<Page<ListedRun>> {
  const rows = await listRuns(database.read, experiment.uid, { after, limit: size });
  return slicePage(rows, size, ({ created_at, id }) => ({ at: created_at, id }));
}

/** Streams the runs in batches: thousands of runs are tens of megabytes, and other requests are served between two batches. */
async function* streamRuns(
  { database }: Pick<Context, 'database'>,
  source: ExperimentRuns,
  first: Page<ListedRun>,
  runsMax: number,
): AsyncGenerator<string> {
  let remaining = runsMax;
  yield '[';
  for (let page = first; ; ) {
    const runs = await formatExperimentRuns(database.read, source.caller, page.items.slice(0, remaining));
    const json = runs.map((run) => formatMarkedJson(run)).join();
    // A batch is empty when its runs were deleted after the page before it.
    if (json !== '') yield page === first ? json : `,${json}`;
    remaining -= runs.length;
    if (!page.next || remaining <= 0) break;
    await setImmediate();
    const size = computeNextBatchSize(page.items.length, json.length, BATCH_SIZE);
    page = await readPage({ database }, source, { after: page.next, size: Math.min(remaining, size) });
  }
  yield ']';
}
