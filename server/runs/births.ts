/**
 * Makes runs of what is planned, many at once, each in the transaction that takes its row away: kill the process at any
 * statement, or let two of them work, and each is born once. What cannot be born stays with its reason.
 */
import { confidentialOptions } from '../applications/executable.ts';
import { findExecutables } from '../applications/executables-store.ts';
import type { ApplicationsTable } from '../applications/schema.ts';
import { findLiveApplication } from '../applications/store.ts';
import { ContentGoneError, type Contents, type SharedContent } from '../blobs/contents.ts';
import type { Clock } from '../clock.ts';
import type { Database, Reader } from '../database/database.ts';
import type { Metrics } from '../http/metrics.ts';
import { badRequest, Problem } from '../http/problem.ts';
import type { Log } from '../log.ts';
import type { Random } from '../random.ts';
import { Reconciler } from '../reconcile/reconciler.ts';
import { Setbacks } from '../reconcile/setbacks.ts';
import { listBirths, type PlannedPlace, refusePlanned, takePlanned } from './plan.ts';
import { type Resolved, resolvePlanned } from './resolve.ts';
import type { PlannedRunsTable } from './schema.ts';
import { findRun } from './store.ts';
import { submit } from './submit.ts';

/** As many as commit together well; a larger number keeps requests waiting behind them. */
const AT_ONCE = 32;
const EVERY_MS = 5000;
/** What the app of an instance is can change between looking it up and bringing the run. */
const TRIES = 3;

interface Parts {
  database: Database;
  contents: Contents;
  clock: Clock;
  random: Random;
  log: Log;
  metrics: Metrics;
}

export function births(parts: Parts): Reconciler {
  const { database, clock, log } = parts;
  const setbacks = new Setbacks(parts, 'A planned run could not be made; it will be tried again.');
  const reconciler = new Reconciler({
    name: 'make planned runs',
    everyMs: EVERY_MS,
    clock,
    log,
    run: async () => {
      let after: PlannedPlace | null = null;
      for (;;) {
        const rows: PlannedRunsTable[] = await listBirths(database.read, after, AT_ONCE);
        const done = await Promise.all(
          rows.map((row) => setbacks.attempt(`${row.owner_uid} ${row.position}`, () => bear(parts, row))),
        );
        // The owner has to look at what cannot be born: nothing of it will ever end.
        if (done.includes('refused')) database.notify('runs-ended');
        after = rows.at(-1) ?? null;
        if (rows.length < AT_ONCE) return;
      }
    },
  });
  database.listen('runs-planned', () => reconciler.poke());
  return reconciler;
}

class TakenError extends Error {}

type Birth = 'born' | 'refused' | 'left';

/** Brings the run of the row. */
async function bear(parts: Parts, row: PlannedRunsTable): Promise<Birth> {
  const { database } = parts;
  for (let tries = 1; ; tries += 1) {
    try {
      const application = await findLiveApplication(database.read, row.application_uid);
      if (!application) return 'left';
      await bring(parts, application, row);
      return 'born';
    } catch (error) {
      if (error instanceof TakenError) return 'left';
      if (!(error instanceof Problem)) throw error;
      if (tries < TRIES) continue;
      await database.transact((tx) => refusePlanned(tx, row, error.message));
      return 'refused';
    }
  }
}

async function bring(parts: Parts, application: ApplicationsTable, row: PlannedRunsTable): Promise<void> {
  const { database, contents, clock, random } = parts;
  const resolved = await resolvePlanned(database.read, application, row.instance_id, row.version_id);
  const content = await contentOf(contents, row);
  await submit(
    { database, clock, random, onQueued: () => database.notify('runs-queued'), onEnded: () => {} },
    {
      application,
      email: row.user_email,
      name: row.name,
      description: '',
      options: JSON.parse(row.options) as Record<string, string>,
      // It waits, whatever the instance says: nobody is there to be told that there is no room.
      configuration: {
        queuing: { disabled: false, ...(row.priority === null ? {} : { priority: row.priority }) },
      },
      managed: { id: row.input_id, format: row.input_format, content },
      input: async () => content,
      experiment:
        row.experiment_uid === null || row.experiment_id === null || row.experiment_type === null
          ? null
          : { uid: row.experiment_uid, id: row.experiment_id, type: row.experiment_type },
      parentRunId: row.parent_run_id,
      labels: row.labels,
      resolved,
      hidden: await hiddenFromAny(database.read, row, resolved),
      async also(tx) {
        if (!(await takePlanned(tx, row))) throw new TakenError();
      },
    },
  );
  parts.metrics.runsSubmitted.inc();
}

/**
 * Options that a reason why the run cannot be born must not name, because every role is shown it: those of its app, and
 * those of the app of the run that it is made after, whose options it has.
 */
async function hiddenFromAny(
  db: Reader,
  { application_uid, parent_run_id }: PlannedRunsTable,
  { executable, requirements }: Resolved,
): Promise<ReadonlySet<string>> {
  const parent =
    requirements.options?.strict && parent_run_id ? await findRun(db, application_uid, parent_run_id) : null;
  const [other] = parent ? await findExecutables(db, [parent.executable_id]) : [];
  return new Set([...confidentialOptions(executable), ...(other ? confidentialOptions(other) : [])]);
}

async function contentOf(contents: Contents, { content_id }: PlannedRunsTable): Promise<SharedContent> {
  const gone = () => badRequest('The input was deleted before the run could be made.');
  const content = await contents.share(content_id);
  if (!content) throw gone();
  return {
    ...content,
    async insert(tx) {
      try {
        await content.insert(tx);
      } catch (error) {
        throw error instanceof ContentGoneError ? gone() : error;
      }
    },
  };
}
