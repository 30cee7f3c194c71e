/** What holds of experiments once nothing waits: they have ended, and their numbers agree with their runs. */
import type { Ledger } from './ledger.ts';
import type { Observer } from './observer.ts';

/** Each counts experiments that are still to end. A shadow test may wait for runs for ever. */
export const UNENDED_STUDIES = [
  `select count(*) from experiments where status = 'started' and deleted_at is null and kind <> 'shadow'`,
  "select count(*) from acceptance_tests where status = 'started'",
];

const COUNTS = `select experiments.id, experiments.kind, experiments.status, experiments.requested,
    count(runs.id) as runs, coalesce(sum(case when runs.status in ('queued', 'running') then 1 else 0 end), 0) as open,
    (select count(*) from planned_runs where planned_runs.experiment_uid = experiments.uid) as planned
  from experiments left join runs on runs.experiment_uid = experiments.uid
  where experiments.deleted_at is null
  group by experiments.uid, experiments.id, experiments.kind, experiments.status, experiments.requested`;

const ACCEPTANCE_TESTS = `select id, 'acceptance' as kind, status, 0 as requested, 0 as runs, 0 as open, 0 as planned
  from acceptance_tests`;

/** A worker reports times by its own clock, which may be wrong; those that are stored are within the attempt. */
const WRONG_TIMES = `select id, initiated_at, finished_at, execution_ms from runs
  where finished_at < initiated_at or execution_ms < 0 or execution_ms > finished_at - initiated_at + ?`;
/** An attempt begins before the run has its start, and the server and its rows read the time one after the other. */
const TIME_TOLERANCE_MS = 60_000;

function checkTimes(ledger: Ledger, observer: Observer): void {
  for (const row of observer.query(WRONG_TIMES, TIME_TOLERANCE_MS))
    ledger.report('the times of a run are within its attempt', JSON.stringify(row));
}

/** Checks the experiments of a world at rest, and the times of runs unless the clock of the server jumped. */
export function checkStudies(
  ledger: Ledger,
  observer: Observer,
  { hasJumped }: { hasJumped: boolean },
): void {
  if (!hasJumped) checkTimes(ledger, observer);
  const found = new Map(
    [...observer.query(COUNTS), ...observer.query(ACCEPTANCE_TESTS)].map((row) => [String(row.id), row]),
  );
  for (const { id, kind, isDeleteRequested } of ledger.experiments.values()) {
    const row = found.get(id);
    if (!row) {
      if (!isDeleteRequested) ledger.report('an acknowledged experiment exists', id);
      continue;
    }
    const hasEnded = row.status !== 'started' && row.status !== 'draft';
    if (hasEnded && Number(row.open) + Number(row.planned) > 0)
      ledger.report(
        'an experiment ends after its runs',
        `${id} is ${row.status} and has ${row.open} open runs`,
      );
    const isPlanned = kind === 'batch' || kind === 'bisect';
    if (isPlanned && row.status === 'completed' && Number(row.runs) !== Number(row.requested))
      ledger.report(
        'an experiment has the runs that it counts',
        `${id} counts ${row.requested} and has ${row.runs}`,
      );
  }
}
