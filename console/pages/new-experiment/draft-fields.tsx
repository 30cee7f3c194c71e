import { SecondsField } from '../../ui/forms/seconds/seconds-field.tsx';
import { SelectField, TextField } from '../../ui/forms/text-field.tsx';
import { UnitField } from '../../ui/forms/unit-field.tsx';
import type { DraftValues, ExperimentDraft } from './draft.ts';
import { chooseControl, type DraftField, FIELDS, type FieldName } from './fields.ts';
import type { Choices } from './queries.ts';

export interface DraftFieldsProps {
  draft: ExperimentDraft;
  choices: Choices;
  change: (values: DraftValues) => void;
}

/** The controls of the fields that are one text or one choice. */
export function DraftFields({ names, ...props }: DraftFieldsProps & { names: readonly FieldName[] }) {
  return names.map((name) => <DraftControl key={name} name={name} {...props} />);
}

function DraftControl({ name, draft, choices, change }: DraftFieldsProps & { name: FieldName }) {
  const field: DraftField = FIELDS[name];
  const { label, help, unit, options } = field;
  const control = {
    ...{ label, help, value: draft[name] },
    onChange: (text: string) => change({ [name]: text }),
  };
  switch (chooseControl(field)) {
    case 'select':
      return <SelectField {...control} options={options?.(choices) ?? []} />;
    case 'seconds':
      return <SecondsField {...control} />;
    case 'time':
      return <TextField {...control} type="datetime-local" />;
    case 'text':
      return (
        <>
          <TextField {...control} />
          {unit && (
            <UnitField
              label={unit.label}
              relative={unit.relative}
              value={draft[unit.name]}
              onChange={(type) => change({ [unit.name]: type })}
            />
          )}
        </>
      );
  }
}
