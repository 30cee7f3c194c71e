import { type ReactNode, useId } from 'react';
import styles from './field.module.css';

interface FieldProps {
  label: string;
  hint?: ReactNode;
  value: string;
  onChange: (value: string) => void;
}

/** A field for one line of text, with its label and a hint. */
export function TextField({
  label,
  hint,
  value,
  onChange,
  ...input
}: FieldProps & { type?: 'text' | 'password' | 'email' | 'url'; autoFocus?: boolean }) {
  const id = useId();
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      <input
        {...input}
        id={id}
        value={value}
        autoComplete="off"
        spellCheck={false}
        aria-describedby={hint === undefined ? undefined : `${id}hint`}
        onChange={(event) => onChange(event.target.value)}
      />
      {hint !== undefined && (
        <p id={`${id}hint`} className={styles.hint}>
          {hint}
        </p>
      )}
    </div>
  );
}

/** A choice of one of the options. */
export function SelectField({
  label,
  hint,
  value,
  options,
  onChange,
}: FieldProps & { options: readonly (string | { value: string; label: string })[] }) {
  const id = useId();
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        value={value}
        aria-describedby={hint === undefined ? undefined : `${id}hint`}
        onChange={(event) => onChange(event.target.value)}
      >
        {options.map((option) => {
          const { value: key, label: text } =
            typeof option === 'string' ? { value: option, label: option } : option;
          return (
            <option key={key} value={key}>
              {text}
            </option>
          );
        })}
      </select>
      {hint !== undefined && (
        <p id={`${id}hint`} className={styles.hint}>
          {hint}
        </p>
      )}
    </div>
  );
}
