/** The durations of past runs. */
import {
  type InstanceTiming,
  measureInstance,
} from '@switchyard/contract/runs/presentation/measure-instance.ts';
import { queryOptions } from '@tanstack/react-query';
import { client } from '../../../client/client.ts';

/** The median duration of the newest runs of each instance. An instance without any is absent. */
export const timingsQuery = (application: string, instances: readonly string[]) =>
  queryOptions({
    queryKey: ['medianDurations', application, instances],
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, InstanceTiming>> => {
      const timings = await Promise.all(
        instances.map((instance) => measureInstance(client, { application, instance, signal })),
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
