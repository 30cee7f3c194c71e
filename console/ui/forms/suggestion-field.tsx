import { useId } from 'react';
import { Field, type FieldProps } from './field.tsx';

interface SuggestionFieldProps extends Pick<FieldProps, 'label' | 'help' | 'error'> {
  value: string;
  suggestions: readonly { value: string; label?: string | undefined }[];
  /** Receives the text without spaces at its ends. */
  onChange: (value: string) => void;
}

/** A field for a name or an id. Some are suggested, and any other can be given. */
export function SuggestionField({ value, suggestions, onChange, ...field }: SuggestionFieldProps) {
  const list = useId();
  return (
    <Field {...field}>
      {(attributes) => (
        <>
          <input
            {...attributes}
            list={list}
            value={value}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => onChange(event.target.value.trim())}
          />
          <datalist id={list}>
            {suggestions.map((one) => (
              <option key={one.value} value={one.value}>
                {one.label}
              </option>
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}
