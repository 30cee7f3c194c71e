/** The forms of all types. The groups of fields come from the descriptor of the type. */

import type { FormField } from '@switchyard/contract/experiment-types/descriptor.ts';
import {
  EXPERIMENTS,
  type ExperimentType,
  hasField,
} from '@switchyard/contract/experiment-types/experiment-types.ts';
import {
  type ExperimentAddress,
  nameOperation,
} from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import { suggestId } from '@switchyard/contract/presentation/suggest-id.ts';
import { queryOptions } from '@tanstack/react-query';
import type { DraftValues, ExperimentDraft } from '../draft.ts';
import { buildFields, type FieldName, GROUPS, readFields } from '../fields.ts';
import { acceptanceForm } from './acceptance.ts';
import { createBatchForm } from './batch.ts';
import { bisectForm } from './bisect.ts';
import { buildComparison, OBJECTIVE_GROUPS, readComparison } from './comparison.ts';
import { shadowForm } from './shadow.ts';
import { switchbackForm } from './switchback.ts';
import type { TypeForm } from './type-form.ts';

export const TYPE_FORMS: Record<ExperimentType, TypeForm> = {
  batch: createBatchForm('batch'),
  scenario: createBatchForm('scenario'),
  acceptance: acceptanceForm,
  shadow: shadowForm,
  switchback: switchbackForm,
  bisect: bisectForm,
};

/** The operation that creates the experiment, with its body. */
export interface ExperimentRequest {
  operation: ReturnType<typeof nameOperation<'create', ExperimentType>>;
  body: Record<string, unknown> & { id: string; name: string };
}

/** Returns the fields at the top of the request: those of an objective are below their indicator. */
function listFields(type: ExperimentType, unused: readonly FormField[] = []): FieldName[] {
  const below: readonly FormField[] = hasField(type, 'comparison') ? [...OBJECTIVE_GROUPS, 'race'] : [];
  return EXPERIMENTS[type].fields
    .filter((group) => ![...below, ...unused].includes(group))
    .flatMap((group) => GROUPS[group] ?? []);
}

/** Returns the request of the form. Throws a SyntaxError for a value that has no meaning. */
export function buildRequest(type: ExperimentType, draft: ExperimentDraft): ExperimentRequest {
  const description = draft.description.trim();
  const form = TYPE_FORMS[type];
  return {
    operation: nameOperation('create', type),
    body: {
      id: draft.id || suggestId(draft.name),
      name: draft.name.trim(),
      ...(description && { description }),
      ...form.build(draft),
      ...buildFields(draft, listFields(type, form.listUnused?.(draft))),
      ...(hasField(type, 'comparison') && buildComparison(type, draft)),
    },
  };
}

const NAME_CHARS_MAX = 48;

/** Returns the name of the next experiment of this kind: `Cheaper 3` after `Cheaper 2`. */
export function nameNext(name: string): string {
  const [, base = name, count = '1'] = /^(.*?)(?: (\d{1,6}))?$/s.exec(name) ?? [];
  const next = ` ${Number(count) + 1}`;
  return `${base.slice(0, NAME_CHARS_MAX - next.length)}${next}`;
}

async function readSource({ type, ...address }: ExperimentAddress): Promise<DraftValues> {
  const { values, parts } = await TYPE_FORMS[type].read(address);
  return {
    name: nameNext(values.name),
    description: values.description,
    ...(hasField(type, 'comparison') && readComparison(type, values)),
    ...readFields(values, listFields(type)),
    ...parts,
  };
}

/** The values of the form that the experiment was started with. */
export const sourceQuery = (address: ExperimentAddress) =>
  queryOptions({
    queryKey: ['experimentSource', address],
    queryFn: () => readSource(address),
  });
