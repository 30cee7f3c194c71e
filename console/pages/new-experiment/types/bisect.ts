/** The form of bisect experiments. */
import type { Client } from '@switchyard/contract/client.ts';
import { readMetadata } from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import { splitList } from '../../../ui/forms/split-text.ts';
import type { ExperimentDraft } from '../draft.ts';
import { type DraftValues, formatAmount, readNames, readRunSettings, toPercentText } from './draft-parts.ts';
import { buildRunSettings, readAmount, readPercent } from './request-parts.ts';
import type { SourceAddress, TypeForm } from './type-form.ts';

export const bisectForm: TypeForm = {
  build: (draft, names) => ({
    operation: 'createBisectExperiment',
    body: { ...names, ...buildBisect(draft) },
  }),
  read: readBisect,
  listWork: () => undefined,
};

/** Returns the search without its names. */
export function buildBisect(draft: ExperimentDraft) {
  return {
    ...(draft.inputSet === '' ? { input_ids: splitList(draft.inputIds) } : { input_set_id: draft.inputSet }),
    instance_id: draft.control === 'latest' ? null : draft.control,
    indicator: draft.indicator,
    good_version_id: draft.goodVersion,
    bad_version_id: draft.badVersion,
    difference: readAmount(draft.differenceType, draft.difference),
    direction: draft.direction === 'maximize' ? ('maximize' as const) : ('minimize' as const),
    ...(draft.confidence !== '95' && { confidence: readPercent(draft.confidence) }),
    ...(draft.searchRuns.trim() && { maximum_runs: Number(draft.searchRuns) }),
    ...buildRunSettings(draft),
  };
}
async function readBisect(client: Client, address: SourceAddress): Promise<DraftValues> {
  const search = await readMetadata(client, { ...address, type: 'bisect' });
  const difference = formatAmount(search.difference);
  return {
    ...readNames(search),
    inputSet: search.input_set_id ?? '',
    ...(search.input_set_id === null && { inputIds: search.input_ids.join(', ') }),
    control: search.instance_id ?? 'latest',
    indicator: search.indicator,
    direction: search.direction,
    goodVersion: search.good_version_id,
    badVersion: search.bad_version_id,
    difference: difference.text,
    differenceType: difference.type,
    confidence: toPercentText(search.confidence),
    searchRuns: String(search.maximum_runs),
    ...readRunSettings(search),
  };
}
