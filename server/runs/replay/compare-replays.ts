/** Compares each replay with its original once it has ended, and stores the comparison. */
import type { ReplayComparison } from '@switchyard/contract/runs/replays.ts';
import type { Contents } from '../../platform/blobs/contents.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { defineJob, type Job, type JobContext } from '../../platform/jobs/define-job.ts';
import { findRun } from '../store/runs.ts';
import type { RunReplaysTable } from '../store/schema.ts';
import { decideVerdict } from './decide-verdict.ts';
import { listCauses } from './list-causes.ts';
import { compareStoredOutputs } from './read-outputs.ts';
import { listUncomparedReplays, storeComparison } from './replays-store.ts';

const INTERVAL_MS = 5000;
/** Outputs can be large, so replays are compared one after the other. */
const BATCH_SIZE = 20;

interface Parts extends JobContext {
  database: Database;
  contents: Contents;
}

/** Stores the comparison of each replay that has ended. */
export function compareReplaysJob(parts: Parts): Job {
  const { database } = parts;
  return defineJob<RunReplaysTable>(parts, {
    name: 'compare-replays',
    intervalMs: INTERVAL_MS,
    wakeOn: ['runs-ended'],
    batchSize: BATCH_SIZE,
    listRows: (limit, after) => listUncomparedReplays(database.read, after, limit),
    formatKey: (row) => row.run_id,
    handleRow: (row) => compareReplay(parts, row),
  });
}

/** Does nothing when either run is gone, because its deletion removes the row. */
async function compareReplay({ database, contents, clock }: Parts, row: RunReplaysTable): Promise<void> {
  const [original, replay] = await Promise.all([
    findRun(database.read, row.application_uid, row.original_run_id),
    findRun(database.read, row.application_uid, row.run_id),
  ]);
  if (!original || !replay) return;
  const decision = decideVerdict(original, replay, await compareStoredOutputs(contents, original, replay));
  const comparison: ReplayComparison = {
    ...decision,
    may_differ: decision.verdict === 'bytes_equal' ? [] : listCauses(original, replay),
    compared_at: formatRfc3339(clock.now()),
  };
  await database.transact((tx) => storeComparison(tx, row.run_id, JSON.stringify(comparison)), {
    durable: false,
  });
  database.notify('replays-compared');
}
