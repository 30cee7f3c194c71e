import type { ReactNode } from 'react';
import { escapeInvisible } from '../content/json-text.ts';
import { Field } from './field.tsx';

interface TextFieldProps {
  label: string;
  help?: ReactNode;
  value: string;
  onChange: (value: string) => void;
}

/** A field for one line of text, with its label and help. */
export function TextField({
  label,
  help,
  value,
  onChange,
  ...input
}: TextFieldProps & {
  type?: 'text' | 'password' | 'email' | 'url' | 'datetime-local';
  autoFocus?: boolean;
}) {
  return (
    <Field label={label} help={help}>
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
  value,
  options,
  onChange,
}: TextFieldProps & { options: readonly (string | { value: string; label: string })[] }) {
  return (
    <Field label={label} help={help}>
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
