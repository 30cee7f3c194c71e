/** The run with which the indicators of a run are compared. */
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { useQuery } from '@tanstack/react-query';
import { operationQuery } from '../../../client/queries.ts';
import { runQuery } from '../queries.ts';

const SUGGESTED_RUNS = 50;

/** A run that can be the baseline. */
export type BaselineCandidate = Pick<
  RunInformation,
  'id' | 'name' | 'status_v2' | 'created_at' | 'application_instance_id'
>;

/** Returns the newest of the runs that succeeded on the instance of `run` before it; `runs` are newest first. */
function findDefaultBaseline(
  run: BaselineCandidate,
  runs: readonly BaselineCandidate[],
): BaselineCandidate | undefined {
  return runs.find(
    (one) =>
      one.id !== run.id &&
      one.status_v2 === 'succeeded' &&
      one.application_instance_id === run.application_instance_id &&
      one.created_at <= run.created_at,
  );
}

/**
 * Returns the baseline of a run, and the runs to choose another one from. The default is the run that this one repeats, or
 * else the last success of the instance before it.
 */
export function useBaseline(run: RunInformation, chosen: string | undefined) {
  const { application_id: application } = run;
  const { data: list } = useQuery(
    operationQuery('listRuns', { params: { application_id: application }, query: { limit: SUGGESTED_RUNS } }),
  );
  const candidates = (list?.runs ?? []).filter((one) => one.status_v2 === 'succeeded' && one.id !== run.id);
  const origin = run.metadata.tracking?.cloned_run_id;
  const id = chosen ?? origin ?? findDefaultBaseline(run, candidates)?.id;
  const { data: baseline, error } = useQuery({
    ...runQuery({ application, run: id ?? '' }),
    enabled: id !== undefined,
  });
  return { baseline: error ? undefined : baseline, candidates };
}
