/** The form of switchback tests. */
import { readMetadata } from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import { client } from '../../../client/client.ts';
import type { TypeForm } from './type-form.ts';

export const switchbackForm: TypeForm = {
  build: ({ control, candidates }) => ({
    comparison: { baseline_instance_id: control, candidate_instance_id: candidates[0] ?? '' },
  }),
  async read(address) {
    const test = await readMetadata(client, { ...address, type: 'switchback' });
    const { units, ...plan } = test.plan;
    const [unit = { duration_minutes: 60 }] = units;
    const generate_random_plan = {
      ...plan,
      units: units.length,
      unit_duration_minutes: unit.duration_minutes,
    };
    const { baseline_instance_id: control, candidate_instance_id: candidate } = test.comparison;
    return { values: { ...test, generate_random_plan }, parts: { control, candidates: [candidate] } };
  },
  listWork: () => undefined,
};
