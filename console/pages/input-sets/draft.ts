/** The form of a new input set, and the request that it becomes. */
import type { CallArguments } from '@switchyard/contract/client.ts';
import type { Operations } from '@switchyard/contract/operations.ts';
import { splitWords } from '../../ui/forms/split-text.ts';

type CreateRequest = CallArguments<Operations['createInputSet']>[0];

/** The values of the form, as a person entered them. */
export interface SetDraft {
  name: string;
  id: string;
  source: 'managed' | 'runs' | 'instance';
  inputs: ReadonlySet<string>;
  /** Ids separated by white space or commas. */
  runs: string;
  instance: string;
  /** Local times as `YYYY-MM-DDTHH:MM`; empty for the default. */
  start: string;
  end: string;
  limit: string;
}

export const EMPTY_SET: SetDraft = {
  name: '',
  id: '',
  source: 'managed',
  inputs: new Set(),
  runs: '',
  instance: 'default',
  start: '',
  end: '',
  limit: '',
};

/** Returns true if the form names a source of inputs. */
export function hasInputs(draft: SetDraft): boolean {
  if (draft.source === 'managed') return draft.inputs.size > 0;
  return draft.source === 'instance' || splitWords(draft.runs).length > 0;
}

/** Returns the request of the form. The server checks its values. */
export function buildSetRequest(draft: SetDraft): CreateRequest['body'] {
  return { name: draft.name.trim(), ...(draft.id.trim() && { id: draft.id.trim() }), ...buildSource(draft) };
}

function buildSource(draft: SetDraft): Partial<CreateRequest['body']> {
  switch (draft.source) {
    case 'managed':
      return { inputs: [...draft.inputs].map((id) => ({ id })) };
    case 'runs':
      return { run_ids: splitWords(draft.runs) };
    case 'instance':
      return {
        instance_id: draft.instance,
        ...(draft.start && { start_time: new Date(draft.start).toISOString() }),
        ...(draft.end && { end_time: new Date(draft.end).toISOString() }),
        ...(draft.limit.trim() && { maximum_runs: Number(draft.limit) }),
      };
  }
}
