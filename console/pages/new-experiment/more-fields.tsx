import type { FormField } from '@switchyard/contract/experiment-types/descriptor.ts';
import { type ExperimentType, hasField } from '@switchyard/contract/experiment-types/experiment-types.ts';
import { Field } from '../../ui/forms/field.tsx';
import form from '../../ui/forms/form.module.css';
import { DraftFields, type DraftFieldsProps } from './draft-fields.tsx';
import { GROUPS } from './fields.ts';

const MORE: readonly FormField[] = [
  ...(['seeds', 'inputProperties', 'failureMargin', 'comparison', 'ties'] as const),
  ...(['confidence', 'race', 'runSettings', 'searchRuns'] as const),
];

/** Settings that most experiments leave as they are, behind one button. */
export function MoreFields({ type, ...props }: DraftFieldsProps & { type: ExperimentType }) {
  const { draft, change } = props;
  const hasRuns = hasField(type, 'existingBatch') && draft.batch !== '';
  const groups = MORE.filter(
    (group) =>
      hasField(type, group) && !(hasRuns && (group === 'inputProperties' || group === 'runSettings')),
  );
  return (
    <details className={form.more}>
      <summary>More settings</summary>
      <div className={form.row}>
        <DraftFields {...props} names={groups.flatMap((group) => GROUPS[group] ?? [])} />
      </div>
      {hasField(type, 'listedRuns') && (
        <Field
          label="Listed runs"
          help='In place of the sides, repetitions and seeds: a JSON list such as [{"instance_id": "production", "input_id": "monday"}]. Without an input_id a run stands for every input.'
        >
          {(attributes) => (
            <textarea
              {...attributes}
              rows={3}
              spellCheck={false}
              value={draft.listedRuns}
              onChange={(event) => change({ listedRuns: event.target.value })}
            />
          )}
        </Field>
      )}
    </details>
  );
}
