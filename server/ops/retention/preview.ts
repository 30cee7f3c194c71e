/** Computes the effect of a retention policy without deleting a run. */
import type { RetentionPreview } from '@switchyard/contract/applications/retention.ts';
import { RETENTION_EXAMPLES_MAX, RETENTION_PREVIEW_RUNS_MAX } from '@switchyard/contract/limits.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { Reader } from '../../platform/database/database.ts';
import { classifyRun, computeCutoff, type RetentionRule, type RunFacts } from './classify-run.ts';
import { listOldRuns, sumRunBytes } from './store.ts';

/** Each statement takes some milliseconds; other requests run between two. */
const BATCH_SIZE = 500;

/** Returns the runs of the application that the rule would delete now. */
export async function computePreview(
  db: Reader,
  applicationUid: string,
  rule: RetentionRule,
  now: number,
): Promise<RetentionPreview> {
  const retained = { tagged: 0, of_experiments: 0, in_use: 0 };
  const examples: RunFacts[] = [];
  let [runs, bytes, seen] = [0, 0, 0];
  let newest: RunFacts | undefined;
  let last: RunFacts | null = null;
  for (;;) {
    const at = { applicationUid, before: computeCutoff(rule, now) };
    const batch: RunFacts[] = await listOldRuns(db, at, last, BATCH_SIZE);
    const expired: RunFacts[] = [];
    for (const run of batch) {
      const retention = classifyRun(run, rule, now);
      if (retention === 'expired') expired.push(run);
      else if (retention === 'tagged') retained.tagged += 1;
      else if (retention === 'of_experiment') retained.of_experiments += 1;
      else if (retention === 'in_use') retained.in_use += 1;
    }
    runs += expired.length;
    bytes += await sumRunBytes(
      db,
      expired.map(({ id }) => id),
    );
    examples.push(...expired.slice(0, RETENTION_EXAMPLES_MAX - examples.length));
    newest = expired.at(-1) ?? newest;
    seen += batch.length;
    last = batch.at(-1) ?? last;
    if (batch.length < BATCH_SIZE || seen >= RETENTION_PREVIEW_RUNS_MAX) {
      const [oldest] = examples;
      return {
        runs,
        bytes,
        retained,
        oldest: oldest ? formatRfc3339(oldest.created_at) : null,
        newest: newest ? formatRfc3339(newest.created_at) : null,
        examples: examples.map(formatExample),
        is_complete: batch.length < BATCH_SIZE,
      };
    }
  }
}

function formatExample({ id, name, created_at, finished_at }: RunFacts) {
  return {
    id,
    name,
    created_at: formatRfc3339(created_at),
    finished_at: formatRfc3339(finished_at ?? created_at),
  };
}
