import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../../client/client.ts';
import { uploadInput } from '../../client/content.ts';
import { Field } from '../../ui/forms/field.tsx';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { SelectField, TextField } from '../../ui/forms/text-field.tsx';
import { useUpload } from '../../ui/upload/use-upload.ts';
import { guessFormat, INPUT_FORMATS } from './guess-format.ts';
import { refreshInputs } from './queries.ts';

type Format = (typeof INPUT_FORMATS)[number];
const SOURCES = [
  { value: 'file', label: 'A file' },
  { value: 'run', label: 'The input of a run' },
] as const;

interface Draft {
  source: (typeof SOURCES)[number]['value'];
  file: File | null;
  format: Format;
  run: string;
  name: string;
  id: string;
}

const EMPTY: Draft = { source: 'file', file: null, format: 'json', run: '', name: '', id: '' };

/** Returns the request without an upload, which exists only once the form is sent. */
function buildBody({ source, format, run, name, id }: Draft) {
  const names = { ...(id.trim() && { id: id.trim() }), ...(name.trim() && { name: name.trim() }) };
  return source === 'run'
    ? { ...names, run_id: run.trim() }
    : { ...names, format: { input: { type: format } } };
}

/** Creates a managed input from a file or a run, and opens its page. */
export function CreateInput({ application, onClose }: { application: string; onClose: () => void }) {
  const navigate = useNavigate();
  const [draft, setDraft] = useState(EMPTY);
  const upload = useUpload();
  const change = (values: Partial<Draft>) => setDraft({ ...draft, ...values });
  const params = { application_id: application };
  const body = buildBody(draft);
  const isFile = draft.source === 'file';
  return (
    <FormDialog
      title="New input"
      action="Create input"
      missing={isFile ? draft.file === null && 'Choose a file' : draft.run.trim() === '' && 'Name a run'}
      requests={[['createInput', { params, body: isFile ? { ...body, upload_id: 'UPLOAD_ID' } : body }]]}
      upload={upload}
      onClose={onClose}
      onSubmit={async () => {
        const uploadId = isFile && draft.file && (await uploadInput(application, draft.file, upload.begin()));
        const created = await client.call('createInput', {
          params,
          body: { ...body, ...(uploadId && { upload_id: uploadId }) },
        });
        await refreshInputs();
        await navigate({
          to: '/apps/$application/inputs/$input',
          params: { application, input: created.body.id },
        });
      }}
    >
      <SelectField
        label="Source"
        value={draft.source}
        options={SOURCES}
        onChange={(value) => change({ source: value === 'run' ? 'run' : 'file' })}
      />
      {isFile ? (
        <FileFields draft={draft} onChange={change} />
      ) : (
        <TextField
          label="Run id"
          help="A run of this application. The input gets the same bytes and format."
          value={draft.run}
          onChange={(run) => change({ run })}
        />
      )}
      <TextField
        label="Name"
        help="The default is the id."
        value={draft.name}
        onChange={(name) => change({ name })}
      />
      <TextField
        label="Id"
        help="Part of its address; it never changes. Leave it empty to get a generated one."
        value={draft.id}
        onChange={(id) => change({ id })}
      />
    </FormDialog>
  );
}

function FileFields({ draft, onChange }: { draft: Draft; onChange: (values: Partial<Draft>) => void }) {
  const choose = (file: File | null) =>
    onChange({
      file,
      ...(file && { format: guessFormat(file.name), name: draft.name || file.name }),
    });
  return (
    <>
      <Field label="File" help="At most 500 MB.">
        {(attributes) => (
          <input {...attributes} type="file" onChange={(event) => choose(event.target.files?.[0] ?? null)} />
        )}
      </Field>
      <SelectField
        label="Format"
        value={draft.format}
        options={INPUT_FORMATS}
        onChange={(value) => onChange({ format: INPUT_FORMATS.find((one) => one === value) ?? draft.format })}
      />
    </>
  );
}
