/** The durations of past runs of an instance. */
import type { Client } from '../../client.ts';
import { CLASS_LIMITS, EXECUTION_CLASSES } from '../../execution-classes.ts';
import { findMedian } from '../../presentation/estimate-time.ts';

/** Enough runs of an instance to know how long one takes. */
const TIMED_RUNS = 5;

/** How long a run of an instance takes, and the cores that it reserves. */
export interface InstanceTiming {
  durationMs: number;
  cores: number;
}

interface TimedInstance {
  application: string;
  instance: string;
  signal: AbortSignal;
}

/** Returns the median duration of the newest runs of the instance that succeeded; undefined without any. */
export async function measureInstance(
  client: Client,
  { application, instance, signal }: TimedInstance,
): Promise<InstanceTiming | undefined> {
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
