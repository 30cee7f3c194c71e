/** The form of shadow tests. */
import type { Client } from '@switchyard/contract/client.ts';
import { readMetadata } from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import { splitList } from '../../../ui/forms/split-text.ts';
import type { ExperimentDraft } from '../draft.ts';
import { expandSides } from './count-runs.ts';
import { type DraftValues, readComparison, readNames, toPercentText } from './draft-parts.ts';
import { buildComparison, readPercent, readTime } from './request-parts.ts';
import type { SourceAddress, TypeForm } from './type-form.ts';

export const shadowForm: TypeForm = {
  build: (draft, names) => ({
    operation: 'createShadowTest',
    body: { ...names, ...buildShadow(draft) },
  }),
  read: readShadow,
  listWork: (draft, sizes) => expandSides(draft.candidates, Number(draft.maximumRuns), sizes),
};

function buildShadow(draft: ExperimentDraft) {
  return {
    comparisons: { [draft.control]: [...draft.candidates] },
    termination_events: {
      maximum_runs: Number(draft.maximumRuns),
      ...(draft.endTime && { time: readTime(draft.endTime) }),
    },
    ...(draft.startTime && { start_events: { time: readTime(draft.startTime) } }),
    ...(draft.sampleShare !== '100' && { sample_share: readPercent(draft.sampleShare) }),
    ...(draft.originalClusters.trim() !== 'caller' && {
      cluster_by: splitList(draft.originalClusters),
    }),
    ...buildComparison(draft),
  };
}

/** Times of the earlier test are over, so that the form has none. */
async function readShadow(client: Client, address: SourceAddress): Promise<DraftValues> {
  const test = await readMetadata(client, { ...address, type: 'shadow' });
  const [compared] = test.comparisons;
  return {
    ...readNames(test),
    ...readComparison(test),
    ...(compared && {
      control: compared.baseline_instance_id,
      candidates: compared.candidate_instance_ids,
    }),
    maximumRuns: String(test.termination_events.maximum_runs),
    sampleShare: toPercentText(test.sample_share),
    originalClusters: test.cluster_by.join(', '),
  };
}
