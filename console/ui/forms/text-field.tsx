import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import type { ReactNode } from 'react';
import { type Choice, Chooser } from './chooser.tsx';
import { Field } from './field.tsx';

interface TextFieldProps {
  label: string;
  help?: ReactNode;
  /** The error of the value. */
  error?: string | undefined;
  value: string;
  onChange: (value: string) => void;
}

/** A field for one line of text, with its label and help. */
export function TextField({
  label,
  help,
  error,
  value,
  onChange,
  ...input
}: TextFieldProps & {
  type?: 'text' | 'password' | 'email' | 'url' | 'datetime-local';
  autoFocus?: boolean;
}) {
  return (
    <Field label={label} help={help} error={error}>
      {(attributes) => (
        <input
          {...input}
          {...attributes}
          value={value}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

/** More options than this are searched. */
const LISTED_MAX = 12;

/** A choice of one of the options: a list of the browser, or a field that searches a long one. */
export function SelectField({
  label,
  help,
  error,
  value,
  options,
  onChange,
}: TextFieldProps & { options: readonly (string | Choice)[] }) {
  const choices = options.map((option) =>
    typeof option === 'string' ? { value: option, label: option } : option,
  );
  return (
    <Field label={label} help={help} error={error}>
      {(attributes) =>
        choices.length > LISTED_MAX ? (
          <Chooser {...attributes} value={value} choices={choices} onChange={onChange} />
        ) : (
          <select {...attributes} value={value} onChange={(event) => onChange(event.target.value)}>
            {choices.map((choice) => (
              <option key={choice.value} value={choice.value}>
                {escapeInvisible(choice.label)}
              </option>
            ))}
          </select>
        )
      }
    </Field>
  );
}

/** A field for several lines of text. */
export function TextAreaField({ label, help, error, value, onChange }: TextFieldProps) {
  return (
    <Field label={label} help={help} error={error}>
      {(attributes) => (
        <textarea {...attributes} rows={4} value={value} onChange={(event) => onChange(event.target.value)} />
      )}
    </Field>
  );
}
