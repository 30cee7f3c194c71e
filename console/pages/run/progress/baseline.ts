/** The run with which the indicators of a run are compared. */
import { findMedian } from '@switchyard/contract/presentation/estimate-time.ts';
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { useQuery } from '@tanstack/react-query';
import { useMeaning } from '../../../client/indicator-meaning.ts';
import { operationQuery } from '../../../client/queries.ts';
import { runQuery } from '../queries.ts';

const SUGGESTED_RUNS = 50;
/** Fewer runs have no usual time. */
const TIMED_RUNS_MIN = 3;

/** A run that can be the baseline. */
export type BaselineCandidate = Pick<
  RunInformation,
  'id' | 'name' | 'status_v2' | 'created_at' | 'application_instance_id'
>;

/** The newest runs of the application that succeeded. */
const successesQuery = (application: string) =>
  operationQuery('listRuns', {
    params: { application_id: application },
    query: { limit: SUGGESTED_RUNS, status: 'succeeded' },
  });

/** Returns the median time in milliseconds of the newest successes of the instance; undefined for fewer than three. */
export function useUsualTime({
  application_id,
  application_instance_id: instance,
}: RunInformation): number | undefined {
  const { data } = useQuery(successesQuery(application_id));
  const times = (data?.runs ?? []).flatMap((one) =>
    one.application_instance_id === instance && one.execution_duration ? [one.execution_duration] : [],
  );
  return times.length < TIMED_RUNS_MIN ? undefined : findMedian(times);
}

/**
 * Returns the baseline of a run, and the runs to choose another one from. The default is the run that this one repeats, or
 * that of the application, or `last`: the last success of the instance in production before it, however old that is.
 */
export function useBaseline(run: RunInformation, chosen: string | undefined) {
  const { application_id: application } = run;
  const { data: list } = useQuery(successesQuery(application));
  const { baseline: meant } = useMeaning(application);
  const origin = run.metadata.tracking?.cloned_run_id;
  const { data: earlier } = useQuery({
    ...operationQuery('listRuns', {
      params: { application_id: application },
      query: {
        instance_id: run.application_instance_id,
        status: 'succeeded',
        created_before: run.created_at,
        production: true,
      },
    }),
    enabled: origin === undefined,
  });
  const [last] = earlier?.runs ?? [];
  const newest: BaselineCandidate[] = (list?.runs ?? []).filter(({ id }) => id !== run.id);
  const isListed = last === undefined || newest.some(({ id }) => id === last.id);
  const candidates = isListed ? newest : [...newest, last];
  const ofApplication = meant !== run.id ? meant : null;
  const id = chosen ?? origin ?? ofApplication ?? last?.id;
  const { data: baseline, error } = useQuery({
    ...runQuery({ application, run: id ?? '' }),
    enabled: id !== undefined,
  });
  return { baseline: error ? undefined : baseline, candidates, last };
}
