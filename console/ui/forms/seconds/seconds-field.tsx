import type { ReactNode } from 'react';
import { Field } from '../field.tsx';
import { findSecondsError } from './parse-seconds.ts';

interface SecondsFieldProps {
  label: string;
  help?: ReactNode;
  changed?: string | null;
  placeholder?: string;
  /** A number of seconds as text; empty for none. */
  value: string;
  onChange: (value: string) => void;
}

/** A field for a maximum duration in seconds, which refuses any other text beside it. */
export function SecondsField({ value, onChange, placeholder, ...field }: SecondsFieldProps) {
  return (
    <Field {...field} error={findSecondsError(value)}>
      {(attributes) => (
        <input
          {...attributes}
          value={value}
          placeholder={placeholder}
          inputMode="numeric"
          autoComplete="off"
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}
