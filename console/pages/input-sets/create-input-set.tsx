import { INPUT_SET_RUNS_MAX } from '@switchyard/contract/limits.ts';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { instancesQuery } from '../../client/applications.ts';
import { client } from '../../client/client.ts';
import { listItems } from '../../client/list-items.ts';
import { Field } from '../../ui/forms/field.tsx';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { SelectField, TextField } from '../../ui/forms/text-field.tsx';
import { buildSetRequest, EMPTY_SET, hasInputs, type SetDraft } from './draft.ts';
import { InputChoices } from './input-choices.tsx';
import styles from './input-sets-page.module.css';
import { refreshInputSets } from './queries.ts';

const SOURCES = [
  { value: 'managed', label: 'Managed inputs' },
  { value: 'runs', label: 'The inputs of chosen runs' },
  { value: 'instance', label: 'The succeeded runs of an instance' },
] as const;

interface FieldsProps {
  application: string;
  draft: SetDraft;
  onChange: (values: Partial<SetDraft>) => void;
}

/** Creates an input set from managed inputs or runs, and opens its page. */
export function CreateInputSet({ application, onClose }: { application: string; onClose: () => void }) {
  const navigate = useNavigate();
  const [draft, setDraft] = useState(EMPTY_SET);
  const change = (values: Partial<SetDraft>) => setDraft({ ...draft, ...values });
  const params = { application_id: application };
  const body = buildSetRequest(draft);
  return (
    <FormDialog
      title="New input set"
      action="Create input set"
      missing={(body.name === '' && 'Give a name') || (!hasInputs(draft) && 'Choose an input')}
      requests={[['createInputSet', { params, body }]]}
      onClose={onClose}
      onSubmit={async () => {
        const created = await client.call('createInputSet', { params, body });
        await refreshInputSets();
        await navigate({
          to: '/apps/$application/input-sets/$inputSet',
          params: { application, inputSet: created.body.id },
        });
      }}
    >
      <TextField label="Name" value={draft.name} onChange={(name) => change({ name })} autoFocus />
      <TextField
        label="Id"
        help="Part of its address; it never changes. Leave it empty to get a generated one."
        value={draft.id}
        onChange={(id) => change({ id })}
      />
      <SelectField
        label="Source"
        value={draft.source}
        options={SOURCES}
        onChange={(value) =>
          change({ source: SOURCES.find((one) => one.value === value)?.value ?? draft.source })
        }
      />
      <SourceFields application={application} draft={draft} onChange={change} />
    </FormDialog>
  );
}

function SourceFields({ application, draft, onChange }: FieldsProps) {
  switch (draft.source) {
    case 'managed':
      return (
        <InputChoices
          application={application}
          chosen={draft.inputs}
          onChange={(inputs) => onChange({ inputs })}
        />
      );
    case 'runs':
      return (
        <Field label="Run ids" help="Runs of this application, separated by spaces or line breaks.">
          {(attributes) => (
            <textarea
              {...attributes}
              rows={5}
              value={draft.runs}
              spellCheck={false}
              onChange={(event) => onChange({ runs: event.target.value })}
            />
          )}
        </Field>
      );
    case 'instance':
      return <WindowFields application={application} draft={draft} onChange={onChange} />;
  }
}

/** An instance and a time window. Without times, the window is the last 24 hours. */
function WindowFields({ application, draft, onChange }: FieldsProps) {
  const { data } = useQuery(instancesQuery(application));
  const instances = data ? listItems(data) : [];
  return (
    <>
      <SelectField
        label="Instance"
        value={draft.instance}
        options={[
          { value: 'default', label: 'The default instance' },
          ...instances.map(({ id, name }) => ({ value: id, label: name })),
          'latest',
        ]}
        onChange={(instance) => onChange({ instance })}
      />
      <div className={styles.row}>
        <TimeField
          label="From"
          hint="24 hours ago"
          value={draft.start}
          onChange={(start) => onChange({ start })}
        />
        <TimeField label="Until" hint="Now" value={draft.end} onChange={(end) => onChange({ end })} />
      </div>
      <TextField
        label="Maximum number of runs"
        help={`The newest runs, at most ${INPUT_SET_RUNS_MAX}.`}
        value={draft.limit}
        onChange={(limit) => onChange({ limit })}
      />
    </>
  );
}

function TimeField({
  label,
  hint,
  value,
  onChange,
}: {
  label: string;
  /** The time that is meant when the field is empty. */
  hint: string;
  value: string;
  onChange: (value: string) => void;
}) {
  return (
    <Field label={label} help={`The default: ${hint.toLowerCase()}.`}>
      {(attributes) => (
        <input
          {...attributes}
          type="datetime-local"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}
