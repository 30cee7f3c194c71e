/** The form of switchback tests. */
import type { Client } from '@switchyard/contract/client.ts';
import { readMetadata } from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import type { ExperimentDraft } from '../draft.ts';
import { type DraftValues, readComparison, readNames } from './draft-parts.ts';
import { buildComparison, readTime } from './request-parts.ts';
import type { SourceAddress, TypeForm } from './type-form.ts';

export const switchbackForm: TypeForm = {
  build: (draft, names) => ({
    operation: 'createSwitchbackTest',
    body: { ...names, ...buildSwitchback(draft) },
  }),
  read: readSwitchback,
  listWork: () => undefined,
};

function buildSwitchback(draft: ExperimentDraft) {
  return {
    comparison: {
      baseline_instance_id: draft.control,
      candidate_instance_id: draft.candidates[0] ?? '',
    },
    generate_random_plan: {
      unit_duration_minutes: Number(draft.unitMinutes),
      units: Number(draft.units),
      design: draft.design,
      carry_over_units: Number(draft.carryOverUnits),
      ...(Number(draft.burnInMinutes) !== 0 && { burn_in_minutes: Number(draft.burnInMinutes) }),
      ...(draft.startTime && { start: readTime(draft.startTime) }),
    },
    ...buildComparison(draft),
  };
}

async function readSwitchback(client: Client, address: SourceAddress): Promise<DraftValues> {
  const test = await readMetadata(client, { ...address, type: 'switchback' });
  const { units, design, carry_over_units, burn_in_minutes } = test.plan;
  return {
    ...readNames(test),
    ...readComparison(test),
    control: test.comparison.baseline_instance_id,
    candidates: [test.comparison.candidate_instance_id],
    units: String(units.length),
    unitMinutes: String(units[0]?.duration_minutes ?? 60),
    design,
    carryOverUnits: String(carry_over_units),
    burnInMinutes: String(burn_in_minutes),
  };
}
