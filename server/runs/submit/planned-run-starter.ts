/**
 * Starts planned runs in parallel. One transaction removes the row of a planned run and inserts the run. Therefore each
 * starts once, also when the process is killed at any statement or two processes run the job. A refused run keeps its row,
 * with the reason.
 */
import { ENSEMBLE_RUNS_MAX } from '@switchyard/contract/limits.ts';
import { StringOptions } from '@switchyard/contract/schemas/field-schemas.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { listConfidentialOptions } from '../../apps/applications/executable.ts';
import { findExecutables } from '../../apps/applications/executables-store.ts';
import type { ApplicationsTable } from '../../apps/applications/schema.ts';
import { findLiveApplication } from '../../apps/applications/store.ts';
import type { Contents } from '../../platform/blobs/contents.ts';
import type { Database, Reader } from '../../platform/database/database.ts';
import { parseColumn } from '../../platform/database/parse-column.ts';
import { Problem } from '../../platform/http/errors/problem.ts';
import type { Metrics } from '../../platform/http/metrics.ts';
import { defineJob, type Job, type JobContext } from '../../platform/jobs/define-job.ts';
import { makeId, type Random } from '../../platform/random.ts';
import type { Tracing } from '../../platform/tracing/tracing.ts';
import {
  claimPlannedRun,
  listPlannedRuns,
  listWaitingPlannedRuns,
  refusePlannedRun,
} from '../store/planned-runs.ts';
import { findRun } from '../store/runs.ts';
import type { PlannedRunsTable, RunsTable } from '../store/schema.ts';
import { findChildContext } from '../tracing/run-trace.ts';
import { sharePreviousOutput } from './previous-output.ts';
import { type ExecutableTarget, resolvePlannedRun } from './resolve-instance.ts';
import { shareInput } from './share-input.ts';
import { type RunRequest, type SubmitParts, submitStandard } from './submit.ts';

/** A batch commits as one group; requests would wait longer behind a larger one. */
const BATCH_SIZE = 32;
const INTERVAL_MS = 5000;
/** The app of an instance can change between its look-up and the start of the run. */
const TRIES_MAX = 3;
const INPUT_REMOVED_MESSAGE = 'The input was deleted before the run could be created.';

interface Parts extends JobContext {
  database: Database;
  contents: Contents;
  random: Random;
  metrics: Metrics;
  tracing: Tracing | null;
  startPlannedEnsemble: StartPlannedEnsemble;
}

/** The planned run of an ensemble, by a definition that its owner stores. */
export interface PlannedEnsembleRun extends RunRequest {
  ownerUid: string;
  definitionId: string;
}

/** Creates the run and plans its child runs. Throws a 400 for a definition that cannot run. */
type StartPlannedEnsemble = (
  parts: SubmitParts<RunsTable>,
  request: PlannedEnsembleRun,
) => Promise<RunsTable>;

/** A planned run with the creation time and the id of its run, which decide its place in the queue. */
interface QueuedPlan extends PlannedRunsTable {
  run_created_at: number;
  run_id: RunId;
}

/** Submits planned runs. A run that is refused keeps its row, with the reason. */
export function startPlannedRunsJob(parts: Parts): Job {
  const { database } = parts;
  const assignPlaces = createPlaceAssigner(parts);
  return defineJob<QueuedPlan>(parts, {
    name: 'start-planned-runs',
    intervalMs: INTERVAL_MS,
    wakeOn: ['runs-planned'],
    batchSize: BATCH_SIZE,
    listRows: async (limit, after) => assignPlaces(await listWaitingPlannedRuns(database.read, after, limit)),
    formatKey: (row) => `${row.owner_uid} ${row.position}`,
    async handleRow(row) {
      // A refused run never ends by itself, so its owner is woken here.
      if ((await startPlanned(parts, row)) === 'refused') database.notify('runs-ended');
    },
    isParallel: true,
  });
}

/**
 * Returns a function that gives each row of a batch its place in the queue, in the order of the rows. The rows of a batch
 * are submitted in parallel, so the place cannot depend on the first to commit. Every row of a batch gets the same creation
 * time, later than that of the batch before, and an id greater than that of the row before. If a row is an ensemble's, each
 * row gets a time of its own. The child runs get the time of their ensemble run. That puts them next to the other runs of its
 * block, and not behind those of all other inputs.
 */
function createPlaceAssigner({ clock, random }: Pick<Parts, 'clock' | 'random'>) {
  let last = 0;
  return (rows: readonly PlannedRunsTable[]): QueuedPlan[] => {
    const step = rows.some(({ definition_id }) => definition_id !== null) ? 1 : 0;
    const span = step * Math.max(0, rows.length - 1);
    const first = Math.max(clock.now() - span, last + 1);
    last = first + span;
    const ids = rows.map(() => makeId<RunId>(random, 'run')).sort();
    return rows.map((row, index) => ({
      ...row,
      run_created_at: first + step * index,
      run_id: ids[index] ?? makeId<RunId>(random, 'run'),
    }));
  };
}

class AlreadyStartedError extends Error {}

type StartOutcome = 'started' | 'refused' | 'skipped';

/** Submits the planned run of the row. */
async function startPlanned(parts: Parts, row: QueuedPlan): Promise<StartOutcome> {
  const { database } = parts;
  for (let tries = 1; ; tries += 1) {
    try {
      const application = await findLiveApplication(database.read, row.application_uid);
      if (!application) return 'skipped';
      await submitPlanned(parts, application, row);
      if (row.definition_id !== null) await startChildRuns(parts, row);
      return 'started';
    } catch (error) {
      if (error instanceof AlreadyStartedError) return 'skipped';
      if (!(error instanceof Problem)) throw error;
      if (tries < TRIES_MAX) continue;
      await database.transact((tx) => refusePlannedRun(tx, row, error.message));
      return 'refused';
    }
  }
}

/** Starts the child runs of an ensemble run at its place in the queue. After a crash the job starts them at the end. */
async function startChildRuns(parts: Parts, { run_id, run_created_at }: QueuedPlan): Promise<void> {
  const rows = await listPlannedRuns(parts.database.read, run_id, {
    refused: false,
    limit: ENSEMBLE_RUNS_MAX,
  });
  const ids = rows.map(() => makeId<RunId>(parts.random, 'run')).sort();
  const children = rows.map((row, index) => ({ ...row, run_created_at, run_id: ids[index] ?? run_id }));
  const outcomes = await Promise.all(children.map((child) => startPlanned(parts, child)));
  if (outcomes.includes('refused')) parts.database.notify('runs-ended');
}

async function submitPlanned(parts: Parts, application: ApplicationsTable, row: QueuedPlan): Promise<void> {
  const { database, clock, random } = parts;
  const submitParts: SubmitParts<RunsTable> = {
    ...{ database, clock, random },
    store: (work, options) => database.transact(work, options),
  };
  const { definition_id: definitionId } = row;
  if (definitionId === null) {
    const target = await resolvePlannedRun(database.read, application, row.instance_id, row.version_id);
    const request = await buildRequest(parts, application, row);
    const hidden = await listOptionsHiddenFromAny(database.read, row, target);
    await submitStandard(submitParts, { ...request, target, hidden });
  } else {
    const request = await buildRequest(parts, application, row);
    await parts.startPlannedEnsemble(submitParts, { ...request, ownerUid: row.owner_uid, definitionId });
  }
  parts.metrics.runsSubmitted.inc();
}

const parseOptions = parseColumn('planned_runs', 'run_id', 'options', StringOptions);

async function buildRequest(
  { contents, database, tracing }: Pick<Parts, 'contents' | 'database' | 'tracing'>,
  application: ApplicationsTable,
  row: QueuedPlan,
): Promise<RunRequest> {
  const content = await shareInput(contents, row.content_id, INPUT_REMOVED_MESSAGE);
  const parent = row.parent_run_id && (await findRun(database.read, row.application_uid, row.parent_run_id));
  // It always queues, whatever the instance says: no caller is waiting for a 429.
  const queuing = { disabled: false, ...(row.priority === null ? {} : { priority: row.priority }) };
  return {
    id: row.run_id,
    at: row.run_created_at,
    application,
    email: row.user_email,
    key: row.created_by_key,
    name: row.name,
    description: '',
    options: parseOptions(row),
    configuration: { queuing, max_duration: row.max_duration },
    managed: { id: row.input_id, format: row.input_format, content },
    // A child run of an ensemble and a shadow copy start from what their parent starts from.
    previous: parent ? await sharePreviousOutput(contents, parent) : null,
    input: async () => content,
    experiment:
      row.experiment_uid === null || row.experiment_id === null || row.experiment_type === null
        ? null
        : { uid: row.experiment_uid, id: row.experiment_id, type: row.experiment_type },
    parentRunId: row.parent_run_id,
    parent: parent || undefined,
    labels: row.labels,
    trace: parent ? findChildContext(parent, tracing) : null,
    async inTransaction(tx) {
      if (!(await claimPlannedRun(tx, row))) throw new AlreadyStartedError();
    },
  };
}

/**
 * Returns the options that the reason of a refusal must not name, because every role can read it. They are the confidential
 * options of the app and, for a copy, of the app of the parent run.
 */
async function listOptionsHiddenFromAny(
  db: Reader,
  { application_uid, parent_run_id }: PlannedRunsTable,
  { executable, requirements }: ExecutableTarget,
): Promise<ReadonlySet<string>> {
  const parent =
    requirements.options?.strict && parent_run_id ? await findRun(db, application_uid, parent_run_id) : null;
  const executables = parent ? await findExecutables(db, [parent.executable_id]) : [];
  return new Set([executable, ...executables].flatMap((each) => [...listConfidentialOptions(each)]));
}
