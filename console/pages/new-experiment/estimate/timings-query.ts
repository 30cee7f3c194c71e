/** The durations of past runs. */
import { CLASS_LIMITS, EXECUTION_CLASSES } from '@switchyard/contract/execution-classes.ts';
import { findMedian } from '@switchyard/contract/presentation/estimate-time.ts';
import { queryOptions } from '@tanstack/react-query';
import { client } from '../../../client/client.ts';

/** Enough runs of an instance to know how long one takes. */
const TIMED_RUNS = 5;

/** How long a run of an instance takes, and the cores that it reserves. */
export interface InstanceTiming {
  durationMs: number;
  cores: number;
}

/** The median duration of the newest runs of each instance. An instance without any is absent. */
export const timingsQuery = (application: string, instances: readonly string[]) =>
  queryOptions({
    queryKey: ['medianDurations', application, instances],
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, InstanceTiming>> => {
      const timings = await Promise.all(
        instances.map((instance) => measureInstance({ application, instance, signal })),
      );
      return new Map(
        instances.flatMap((instance, index) => {
          const timing = timings[index];
          return timing === undefined ? [] : [[instance, timing] as const];
        }),
      );
    },
    staleTime: Number.POSITIVE_INFINITY,
  });

interface TimedInstance {
  application: string;
  instance: string;
  signal: AbortSignal;
}

async function measureInstance({ application, instance, signal }: TimedInstance) {
  const params = { application_id: application };
  const query = { instance_id: instance, status: 'succeeded' as const, limit: TIMED_RUNS };
  const { body } = await client.call('listRuns', { params, query, signal });
  // Lists contain no durations.
  const runs = await Promise.all(
    body.runs.map(async ({ id }) => {
      const run = await client.call('getRunMetadata', { params: { ...params, run_id: id }, signal });
      return run.body.metadata;
    }),
  );
  const durationMs = findMedian(
    runs.map(({ execution_duration }) => execution_duration).filter((duration) => duration > 0),
  );
  if (durationMs === undefined) return undefined;
  const executionClass = EXECUTION_CLASSES.find((name) => name === body.runs[0]?.execution_class);
  return { durationMs, cores: executionClass ? CLASS_LIMITS[executionClass].cores : 0 };
}
