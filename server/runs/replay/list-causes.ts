/** Lists why two executions of the same program on the same input can differ, from what the platform stores about both. */
import { formatBytes, formatSides } from '@switchyard/contract/presentation/format-quantity.ts';
import type { ReplayCause } from '@switchyard/contract/runs/replays.ts';
import { parseLimits, parseOptionsSummary } from '../run-columns.ts';
import type { RunsTable } from '../store/schema.ts';

type ExecutedRun = Pick<
  RunsTable,
  | 'id'
  | 'limits'
  | 'execution_ms'
  | 'runtime_version'
  | 'containment'
  | 'network'
  | 'secrets_collection_id'
  | 'options_summary'
>;

/** A run that takes this share of its maximum duration was probably ended by it. */
const NEAR_LIMIT = 0.98;
/** Names of options by which apps limit their time, such as `duration`, `solve.time_limit` or `maxSeconds`. */
const TIME_OPTION = /duration|time|seconds|deadline/i;

/** Returns the causes, observed ones first. They name no option, because options can be hidden from the reader. */
export function listCauses(original: ExecutedRun, replay: ExecutedRun): ReplayCause[] {
  const causes = [
    findHostCause(original, replay),
    findRuntimeCause(original, replay),
    findContainmentCause(original, replay),
    findTimeCause(original, replay),
    findThreadsCause(original, replay),
    findSecretsCause(replay),
    findNetworkCause(replay),
    RANDOMNESS,
  ].filter((cause) => cause !== null);
  return [...causes.filter((cause) => cause.observed), ...causes.filter((cause) => !cause.observed)];
}

const RANDOMNESS: ReplayCause = {
  cause: 'randomness',
  observed: false,
  description:
    'The app may use random numbers without a seed in its options, the clock, or NEXTMV_RUN_ID, which is the id of the run.',
};

function findHostCause(original: ExecutedRun, replay: ExecutedRun): ReplayCause {
  const [before, after] = [parseLimits(original), parseLimits(replay)];
  if (before && after && original.limits !== replay.limits)
    return {
      cause: 'host',
      observed: true,
      description: describeLimits(before, after),
    };
  return {
    cause: 'host',
    observed: false,
    description: 'The runs may have had different hosts, or different load beside them.',
  };
}

type Limits = NonNullable<ReturnType<typeof parseLimits>>;

function describeLimits(before: Limits, after: Limits): string {
  const [original, replay] = formatSides([before.memory_bytes, after.memory_bytes], formatBytes);
  return `The original had ${before.cores} cores and ${original}; the replay had ${after.cores} cores and ${replay}.`;
}

function findRuntimeCause(original: ExecutedRun, replay: ExecutedRun): ReplayCause | null {
  const [before, after] = [original.runtime_version, replay.runtime_version];
  if (before === after || before === null || after === null) return null;
  return {
    cause: 'runtime',
    observed: true,
    description: `The original had version ${before} of its runtime; the replay had ${after}.`,
  };
}

function findContainmentCause(original: ExecutedRun, replay: ExecutedRun): ReplayCause | null {
  if (original.containment === replay.containment || original.containment === '' || replay.containment === '')
    return null;
  return {
    cause: 'containment',
    observed: true,
    description: `The containment of the original was ${original.containment}; that of the replay was ${replay.containment}.`,
  };
}

function findTimeCause(original: ExecutedRun, replay: ExecutedRun): ReplayCause | null {
  if ([original, replay].some(isNearLimit))
    return {
      cause: 'wall_clock_limit',
      observed: true,
      description:
        'A run took the whole duration of its execution class. A faster host gets further in that time.',
    };
  const options = parseOptionsSummary(original);
  if (!options.some(({ name }) => TIME_OPTION.test(name))) return null;
  return {
    cause: 'wall_clock_limit',
    observed: false,
    description:
      'An option may limit the time of the app. A search that ends by the clock gets further on a faster or less busy host.',
  };
}

function isNearLimit(run: ExecutedRun): boolean {
  const limits = parseLimits(run);
  return limits !== null && run.execution_ms !== null && run.execution_ms >= NEAR_LIMIT * limits.duration_ms;
}

function findThreadsCause(original: ExecutedRun, replay: ExecutedRun): ReplayCause | null {
  const cores = Math.max(parseLimits(original)?.cores ?? 0, parseLimits(replay)?.cores ?? 0);
  if (cores <= 1) return null;
  return {
    cause: 'threads',
    observed: false,
    description: `The app may use ${cores} cores. Threads that finish in another order can lead to another solution.`,
  };
}

function findSecretsCause({ secrets_collection_id: id }: ExecutedRun): ReplayCause | null {
  if (id === null) return null;
  return {
    cause: 'secrets',
    observed: false,
    description: 'Secrets are read at each start, and the collection may have changed in between.',
  };
}

function findNetworkCause({ network }: ExecutedRun): ReplayCause | null {
  if (network === 0) return null;
  return {
    cause: 'network',
    observed: false,
    description: 'The app has network access, and may read data that change.',
  };
}
