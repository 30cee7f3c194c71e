import { type ExperimentType, hasField } from '@switchyard/contract/experiment-types/experiment-types.ts';
import { Link } from '@tanstack/react-router';
import form from '../../ui/forms/form.module.css';
import { SelectField, TextField } from '../../ui/forms/text-field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { DraftFields, type DraftFieldsProps } from './draft-fields.tsx';
import { nameTarget } from './list-missing.ts';

type InputFieldsProps = DraftFieldsProps & { application: string; type: ExperimentType };

/** The inputs of the runs: an input set with repetitions, managed inputs of a search, or the runs of an earlier batch. */
export function InputFields({ application, ...props }: InputFieldsProps) {
  const { type, draft, choices, change } = props;
  const isSearch = hasField(type, 'managedInputs');
  const hasBatches = hasField(type, 'existingBatch') && choices.batches.length > 0;
  if (choices.inputSets.length === 0 && !isSearch && !hasBatches)
    return <NoInputSet application={application} />;
  return (
    <div className={form.section} id={nameTarget('inputs')}>
      <div className={form.row}>
        {hasBatches && (
          <SelectField
            label="Runs to evaluate"
            help="Rules that come after results are marked so. A batch needs runs of both sides."
            value={draft.batch}
            options={[
              { value: '', label: 'New runs on an input set' },
              ...choices.batches.map(({ id, name }) => ({ value: id, label: `Those of ${name}` })),
            ]}
            onChange={(batch) => change({ batch })}
          />
        )}
        {!(hasField(type, 'existingBatch') && draft.batch !== '') && <SetFields {...props} />}
      </div>
    </div>
  );
}

function NoInputSet({ application }: { application: string }) {
  return (
    <div id={nameTarget('inputs')}>
      <Notice kind="warning">
        The application has no input set, which this experiment runs on.{' '}
        <Link to="/apps/$application/input-sets" params={{ application }}>
          Create one from runs
        </Link>
        .
      </Notice>
    </div>
  );
}

function SetFields({ type, draft, choices, change }: Omit<InputFieldsProps, 'application'>) {
  const isSearch = hasField(type, 'managedInputs');
  const listed = { value: '', label: 'Managed inputs by id' };
  return (
    <>
      <SelectField
        label="Input set"
        help="A verdict needs at least ten inputs."
        value={draft.inputSet}
        options={[
          ...(isSearch || draft.inputSet !== '' ? [] : [{ value: '', label: 'Choose an input set' }]),
          ...choices.inputSets.map(({ id, name, inputs }) => ({
            value: id,
            label: `${name} (${inputs} ${inputs === 1 ? 'input' : 'inputs'})`,
          })),
          ...(isSearch ? [listed] : []),
        ]}
        onChange={(inputSet) => change({ inputSet })}
      />
      {isSearch && draft.inputSet === '' && (
        <TextField
          label="Managed inputs"
          help="Their ids, separated by commas."
          value={draft.inputIds}
          onChange={(inputIds) => change({ inputIds })}
        />
      )}
      {hasField(type, 'repetitions') && (
        <DraftFields {...{ draft, choices, change }} names={['repetitions']} />
      )}
    </>
  );
}
