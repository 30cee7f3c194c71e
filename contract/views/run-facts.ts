/** What a run was given to execute with, and what it used. */
import { formatBytes, formatDuration, formatNumber, formatPercent } from '../presentation/format-quantity.ts';
import type { RunInformation } from '../runs/run-schemas.ts';
import type { Fact } from './facts.ts';

type ExecutedRun = Pick<RunInformation, 'metadata' | 'runtime'>;

const CONTAINMENTS: Readonly<Record<RunInformation['metadata']['containment'], string | undefined>> = {
  '': undefined,
  sandbox: 'Sandbox',
  limits: "Limits only: the rights of the server's user",
};

/** Limits, containment and use of resources, in the order of the page of a run. */
export const EXECUTION_FACTS: readonly Fact<ExecutedRun>[] = [
  { label: 'Time limit', format: ({ metadata: { limits } }) => limits && formatDuration(limits.duration_ms) },
  { label: 'Cores', format: ({ metadata: { limits } }) => limits && formatNumber(limits.cores) },
  { label: 'Core time', format: ({ metadata }) => formatCoreTime(metadata) },
  { label: 'Memory limit', format: ({ metadata: { limits } }) => limits && formatBytes(limits.memory_bytes) },
  { label: 'Peak memory', format: ({ metadata }) => formatPeakMemory(metadata) },
  { label: 'Containment', format: ({ metadata }) => CONTAINMENTS[metadata.containment] },
  {
    label: 'Runtime',
    format: ({ runtime, metadata: { runtime_version: version } }) =>
      version === undefined ? runtime : `${runtime} (on ${version})`,
  },
  {
    label: 'Input',
    format: ({ metadata }) => `${formatBytes(metadata.input_size)}, ${metadata.format.input.type}`,
  },
  { label: 'Previous run', format: ({ metadata }) => metadata.previous_run_id },
  {
    label: 'Output',
    format: ({ metadata: { output_size, format } }) =>
      output_size > 0 ? `${formatBytes(output_size)}, ${format.output.type}` : undefined,
  },
  {
    label: 'Priority',
    format: ({ metadata: { queuing_priority, queuing_disabled } }) =>
      `${queuing_priority}${queuing_disabled ? ', never queued' : ''}`,
  },
  { label: 'Secrets collection', format: ({ metadata }) => metadata.secrets_collection_id },
];

/**
 * Returns the run time multiplied by the cores that the run had. A host of 2 cores grants 2 to a class of 6, so the cores of
 * the class do not count. The server states the cores after the end.
 */
function formatCoreTime({
  execution_duration,
  limits,
}: Pick<RunInformation['metadata'], 'execution_duration' | 'limits'>): string | undefined {
  return limits && formatDuration(execution_duration * limits.cores);
}

function formatPeakMemory({
  containment,
  peak_memory_bytes: peak,
  limits,
}: RunInformation['metadata']): string | undefined {
  if (peak === undefined) return containment === '' ? undefined : 'Not sampled';
  return `${formatBytes(peak)}${limits ? ` (${formatPercent(peak / limits.memory_bytes)} of the limit)` : ''}`;
}
