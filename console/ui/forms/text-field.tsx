import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import type { ReactNode } from 'react';
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

/** A choice of one of the options. */
export function SelectField({
  label,
  help,
  error,
  value,
  options,
  onChange,
}: TextFieldProps & { options: readonly (string | { value: string; label: string })[] }) {
  return (
    <Field label={label} help={help} error={error}>
      {(attributes) => (
        <select {...attributes} value={value} onChange={(event) => onChange(event.target.value)}>
          {options.map((option) => {
            const { value: key, label: text } =
              typeof option === 'string' ? { value: option, label: option } : option;
            return (
              <option key={key} value={key}>
                {escapeInvisible(text)}
              </option>
            );
          })}
        </select>
      )}
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
