/** The list of the experiments of all types. */
import {
  EXPERIMENT_KINDS,
  EXPERIMENTS,
  type ExperimentKind,
  hasFact,
} from '@switchyard/contract/experiment-types/experiment-types.ts';
import type { ExperimentSummary } from '@switchyard/contract/experiments/experiment-summaries.ts';
import { getApplication } from '../../apps/applications/store.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import { respondWithListObject } from '../../platform/http/lists/list-responses.ts';
import type { PagePosition, PageRequest } from '../../platform/http/lists/pagination.ts';
import { countRunsByExperiment, formatProgress } from '../operations/format-experiment.ts';
import { type ListedAcceptanceTest, listAcceptanceTests } from '../store/acceptance-tests.ts';
import { listExperiments } from '../store/experiments.ts';
import type { ExperimentsTable } from '../store/schema.ts';

type Row = ExperimentsTable | ListedAcceptanceTest;

/** A row in the list. Ids are unique in a kind only, so its position names the kind too. */
interface Listed {
  created_at: number;
  id: string;
  row: Row;
}

/** Other lists show the experiments of a year. */
const ALWAYS = { start: 0, end: Number.MAX_SAFE_INTEGER };

export const listExperimentSummaries: OperationHandler<'listExperimentSummaries'> = async (
  context,
  { caller, params, query },
) => {
  const { read } = context.database;
  const { uid } = await getApplication(read, caller.account, params.application_id);
  await context.onlineTests.endOverdueTests(uid);
  const { type, status } = query;
  const ownType = type !== undefined && hasFact(type, 'ownsRuns') ? type : null;
  // To its reader, a batch and its acceptance test of the same id are one experiment.
  const filter = { type: ownType, status, withoutTested: type === undefined, window: ALWAYS };
  const list = async (kind: ExperimentKind, { after, limit }: PageRequest): Promise<Listed[]> => {
    const page = { limit, after: after && locateInKind(after, kind) };
    const rows = hasFact(kind, 'ownsRuns')
      ? await listExperiments(read, uid, { ...filter, kind, page })
      : await listAcceptanceTests(read, uid, page, status);
    return rows.map((row) => ({ created_at: row.created_at, id: `${row.id}${SEPARATOR}${kind}`, row }));
  };
  const kinds = type === undefined ? EXPERIMENT_KINDS : [EXPERIMENTS[type].kind];
  return respondWithListObject(context, {
    tokenScope: `experiment-summaries ${uid} ${type ?? ''} ${status ?? ''}`,
    query,
    async queryRows(page) {
      const rows = (await Promise.all(kinds.map((kind) => list(kind, page)))).flat().toSorted(compareAge);
      return page.limit === null ? rows : rows.slice(0, page.limit + 1);
    },
    formatBodies: (rows) =>
      formatSummaries(
        context,
        rows.map(({ row }) => row),
      ),
  });
};

/** Comes before every character of an id. */
const SEPARATOR = '\u0001';

/** Returns the position in the list of the kind. Of rows with the same time and id, the later kind is first. */
function locateInKind({ at, id: position }: PagePosition, kind: ExperimentKind): PagePosition {
  const [id = '', last = ''] = position.split(SEPARATOR);
  return { at, id: kind < last ? `${id}${SEPARATOR}` : id };
}

function compareAge(one: Listed, other: Listed): number {
  return other.created_at - one.created_at || (one.id < other.id ? 1 : -1);
}

async function formatSummaries(
  { database, experimentVerdicts }: Pick<Context, 'database' | 'experimentVerdicts'>,
  rows: readonly Row[],
): Promise<ExperimentSummary[]> {
  if (rows.length === 0) return [];
  const owners = rows.map((row) => ({ uid: 'experiment_uid' in row ? row.experiment_uid : row.uid }));
  const countsOf = await countRunsByExperiment(database.read, owners);
  const verdicts = await experimentVerdicts.read(rows);
  const summaries: ExperimentSummary[] = [];
  for (const row of rows) {
    const isTest = 'experiment_uid' in row;
    const counts = countsOf({ uid: isTest ? row.experiment_uid : row.uid });
    const { number_of_requested_runs: _, ...runs } = formatProgress({ requested: 0 }, counts);
    const verdict = isTest ? await experimentVerdicts.readAcceptance(row) : verdicts.get(row.uid);
    summaries.push({
      type: isTest ? EXPERIMENTS.acceptance.kind : row.type,
      ...{ id: row.id, name: row.name, status: row.status, created_at: formatRfc3339(row.created_at) },
      ...runs,
      ...(verdict ? { verdict } : {}),
    });
  }
  return summaries;
}
