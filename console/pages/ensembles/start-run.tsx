import type { Ensemble } from '@switchyard/contract/runs/ensemble-schemas.ts';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../../client/client.ts';
import { uploadInput } from '../../client/content.ts';
import { inputsQuery } from '../../client/inputs.ts';
import { Field } from '../../ui/forms/field.tsx';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { JsonEditor } from '../../ui/forms/json-editor.tsx';
import { SuggestionField } from '../../ui/forms/suggestion-field.tsx';
import { SelectField, TextField } from '../../ui/forms/text-field.tsx';
import { useUpload } from '../../ui/upload/use-upload.ts';

const SOURCES = [
  { value: 'managed', label: 'Managed input' },
  { value: 'paste', label: 'Paste JSON' },
  { value: 'file', label: 'Upload a file' },
] as const;

interface Draft {
  name: string;
  source: (typeof SOURCES)[number]['value'];
  inputId: string;
  text: string;
  file: File | null;
}

const EMPTY: Draft = { name: '', source: 'managed', inputId: '', text: '', file: null };

function isComplete({ source, inputId, text, file }: Draft): boolean {
  return { managed: inputId !== '', paste: text.trim() !== '', file: file !== null }[source];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`The input is not JSON: ${error instanceof Error ? error.message : ''}. Correct it.`);
  }
}

/** Starts a run of the ensemble on one input, and opens its page. */
export function StartRun({
  application,
  ensemble,
  onClose,
}: {
  application: string;
  ensemble: Ensemble;
  onClose: () => void;
}) {
  const navigate = useNavigate();
  const [draft, setDraft] = useState(EMPTY);
  const upload = useUpload();
  const change = (values: Partial<Draft>) => setDraft({ ...draft, ...values });
  const params = { application_id: application };
  const body = {
    ...(draft.name.trim() && { name: draft.name.trim() }),
    configuration: { run_type: { type: 'ensemble' as const, definition_id: ensemble.id } },
    ...(draft.source === 'managed' && { input_id: draft.inputId }),
  };
  const addInput = async () => {
    if (draft.source === 'paste') return { ...body, input: parseJson(draft.text) };
    if (draft.source !== 'file' || draft.file === null) return body;
    return { ...body, upload_id: await uploadInput(application, draft.file, upload.begin()) };
  };
  return (
    <FormDialog
      title={`New run of ${ensemble.name}`}
      action="Start run"
      missing={!isComplete(draft) && 'Choose an input'}
      requests={[['createRun', { params, body: draft.source === 'managed' ? body : { ...body, input: {} } }]]}
      upload={upload}
      onClose={onClose}
      onSubmit={async () => {
        const created = await client.call('createRun', { params, body: await addInput() });
        await navigate({
          to: '/apps/$application/ensembles/$ensemble/runs/$run',
          params: { application, ensemble: ensemble.id, run: created.body.run_id },
        });
      }}
    >
      <TextField label="Name" value={draft.name} onChange={(name) => change({ name })} />
      <SelectField
        label="Input"
        value={draft.source}
        options={SOURCES}
        onChange={(value) =>
          change({ source: SOURCES.find((one) => one.value === value)?.value ?? draft.source })
        }
      />
      <SourceField application={application} draft={draft} onChange={change} />
    </FormDialog>
  );
}

function SourceField({
  application,
  draft,
  onChange,
}: {
  application: string;
  draft: Draft;
  onChange: (values: Partial<Draft>) => void;
}) {
  switch (draft.source) {
    case 'managed':
      return (
        <ManagedInput
          application={application}
          value={draft.inputId}
          onChange={(inputId) => onChange({ inputId })}
        />
      );
    case 'paste':
      return <JsonEditor label="Input as JSON" value={draft.text} onChange={(text) => onChange({ text })} />;
    case 'file':
      return (
        <Field label="File" help="At most 500 MB, in the format that the app reads.">
          {(attributes) => (
            <input
              {...attributes}
              type="file"
              onChange={(event) => onChange({ file: event.target.files?.[0] ?? null })}
            />
          )}
        </Field>
      );
  }
}

/** The id of a managed input. The newest are suggested. */
function ManagedInput({
  application,
  value,
  onChange,
}: {
  application: string;
  value: string;
  onChange: (id: string) => void;
}) {
  const { data } = useInfiniteQuery(inputsQuery(application));
  const inputs = data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <SuggestionField
      label="Input id"
      help={
        data && inputs.length === 0
          ? 'The application has no managed input yet.'
          : 'The newest are suggested.'
      }
      value={value}
      suggestions={inputs.map(({ id, name }) => ({ value: id, label: name }))}
      onChange={onChange}
    />
  );
}
