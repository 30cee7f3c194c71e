/** A run of an experiment for tests of pure rules. */
import type { PairedRun } from '../pair-runs.ts';

/** Returns a run of the instance on the input. Without a value it failed; `fields` replace others. */
export function buildPairedRun(
  instance_id: string,
  input_id: string,
  value: number | boolean | null,
  fields: Partial<Omit<PairedRun, 'statistics'>> = {},
): PairedRun {
  return {
    id: `${instance_id} ${input_id} ${fields.repetition ?? 0}`,
    status_v2: value === null ? 'failed' : 'succeeded',
    instance_id,
    version_id: 'v1',
    option_set: null,
    scenario_id: null,
    repetition: 0,
    input_id,
    run_type: { definition_id: null, reference_id: null },
    statistics: {
      status: 'success',
      error: '',
      indicators: value === null ? [] : [{ name: 'result.value', value }],
    },
    ...fields,
  };
}
