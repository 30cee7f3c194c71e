/** The forms of all types. */

import type { ExperimentType } from '@switchyard/contract/experiment-types/experiment-types.ts';
import type { ExperimentAddress } from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import { suggestId } from '@switchyard/contract/presentation/suggest-id.ts';
import { queryOptions } from '@tanstack/react-query';
import { client } from '../../../client/client.ts';
import type { ExperimentDraft } from '../draft.ts';
import { acceptanceForm } from './acceptance.ts';
import { createBatchForm } from './batch.ts';
import { bisectForm } from './bisect.ts';
import { shadowForm } from './shadow.ts';
import { switchbackForm } from './switchback.ts';
import type { ExperimentRequest, TypeForm } from './type-form.ts';

export const TYPE_FORMS: Record<ExperimentType, TypeForm> = {
  batch: createBatchForm('batch'),
  scenario: createBatchForm('scenario'),
  acceptance: acceptanceForm,
  shadow: shadowForm,
  switchback: switchbackForm,
  bisect: bisectForm,
};

/** Returns the request of the form. Throws a SyntaxError for a value that has no meaning. */
export function buildRequest(type: ExperimentType, draft: ExperimentDraft): ExperimentRequest {
  const description = draft.description.trim();
  return TYPE_FORMS[type].build(draft, {
    id: draft.id || suggestId(draft.name),
    name: draft.name.trim(),
    ...(description && { description }),
  });
}

/** The values of the form that the experiment was started with. */
export const sourceQuery = (address: ExperimentAddress) =>
  queryOptions({
    queryKey: ['experimentSource', address],
    queryFn: () => TYPE_FORMS[address.type].read(client, address),
  });
