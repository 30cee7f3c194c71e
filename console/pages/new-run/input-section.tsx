import { useId } from 'react';
import { Field } from '../../ui/forms/field.tsx';
import { JsonEditor } from '../../ui/forms/json-editor.tsx';
import { SuggestionField } from '../../ui/forms/suggestion-field.tsx';
import { findInputFormat, type InputSource, type RunDraft } from './draft.ts';
import styles from './new-run-page.module.css';
import type { NewRunData } from './queries.ts';

const SOURCES: Record<InputSource, string> = {
  paste: 'Paste',
  file: 'Upload a file',
  managed: 'Managed input',
  run: 'Input of a run',
};
const SOURCE_NAMES: readonly InputSource[] = ['paste', 'file', 'managed', 'run'];

interface InputSectionProps {
  data: NewRunData;
  draft: RunDraft;
  error: string | null;
  onChange: (values: Partial<RunDraft>) => void;
}

/** The input of the run: text, a file, a managed input, or that of another run. */
export function InputSection({ data, draft, error, onChange }: InputSectionProps) {
  const name = useId();
  return (
    <section className={styles.section} aria-label="Input">
      <h2>Input</h2>
      <fieldset className={styles.sources}>
        <legend className="visually-hidden">Source of the input</legend>
        {SOURCE_NAMES.map((source) => (
          <label key={source}>
            <input
              type="radio"
              name={name}
              checked={draft.source === source}
              onChange={() => onChange({ source })}
            />
            {SOURCES[source]}
          </label>
        ))}
      </fieldset>
      <SourceControl data={data} draft={draft} error={error} onChange={onChange} />
    </section>
  );
}

function SourceControl({ data, draft, error, onChange }: InputSectionProps) {
  const format = findInputFormat(data);
  switch (draft.source) {
    case 'paste':
      return format === 'text' ? (
        <Field label="Text" error={error}>
          {(attributes) => (
            <textarea
              {...attributes}
              rows={14}
              value={draft.text}
              onChange={(event) => onChange({ text: event.target.value })}
            />
          )}
        </Field>
      ) : (
        <>
          <JsonEditor label="Input as JSON" value={draft.text} onChange={(text) => onChange({ text })} />
          {error && (
            <p className={styles.error} role="alert">
              {error}
            </p>
          )}
        </>
      );
    case 'file':
      return (
        <Field label="File" error={error} help={`The app reads ${format}. At most 500 MB.`}>
          {(attributes) => (
            <input
              {...attributes}
              type="file"
              onChange={(event) => onChange({ file: event.target.files?.[0] ?? null })}
            />
          )}
        </Field>
      );
    case 'managed':
      return <ManagedInput data={data} draft={draft} error={error} onChange={onChange} />;
    case 'run':
      return (
        <Field
          label="Run id"
          error={error}
          help="The new run gets the same bytes as this run of the application."
          changed={
            data.original && data.original.id !== draft.runId ? `changed from ${data.original.id}` : null
          }
        >
          {(attributes) => (
            <input
              {...attributes}
              value={draft.runId}
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => onChange({ runId: event.target.value.trim() })}
            />
          )}
        </Field>
      );
  }
}

/** The id of a managed input. The newest are suggested. */
function ManagedInput({ data, draft, error, onChange }: InputSectionProps) {
  return (
    <SuggestionField
      label="Input id"
      error={error}
      help={
        data.inputs.length === 0 ? 'The application has no managed input yet.' : 'The newest are suggested.'
      }
      value={draft.inputId}
      suggestions={data.inputs.map(({ id, name }) => ({ value: id, label: name }))}
      onChange={(inputId) => onChange({ inputId })}
    />
  );
}
