/** The form of shadow tests. */
import { readMetadata } from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import { client } from '../../../client/client.ts';
import { expandSides } from './count-runs.ts';
import type { TypeForm } from './type-form.ts';

export const shadowForm: TypeForm = {
  build: ({ control, candidates }) => ({ comparisons: { [control]: [...candidates] } }),
  async read(address) {
    const values = await readMetadata(client, { ...address, type: 'shadow' });
    const [compared] = values.comparisons;
    const parts = compared && {
      control: compared.baseline_instance_id,
      candidates: compared.candidate_instance_ids,
    };
    return { values, parts: parts ?? {} };
  },
  listWork: (draft, sizes) => expandSides(draft.candidates, Number(draft.maximumRuns), sizes),
};
