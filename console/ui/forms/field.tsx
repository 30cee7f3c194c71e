import { type ReactNode, useId } from 'react';
import styles from './field.module.css';

/** The attributes that connect a control with its label, its help text and its error. */
export interface ControlAttributes {
  id: string;
  'aria-describedby': string;
  'aria-invalid': boolean;
}

export interface FieldProps {
  label: string;
  help?: ReactNode;
  /** The error of the value; it is shown in the place of nothing, so give it only when it is news. */
  error?: string | null | undefined;
  /** The value that the person has changed, as a remark beside the label. */
  changed?: string | null | undefined;
  /** Renders the control: an input, a select or a text area. */
  children: (attributes: ControlAttributes) => ReactNode;
}

/** A control of a form with its label above, and help and error below. */
export function Field({ label, help, error, changed, children }: FieldProps) {
  const id = useId();
  return (
    <div
      className={styles.field}
      data-invalid={error ? '' : undefined}
      data-changed={changed ? '' : undefined}
    >
      <div className={styles.head}>
        <label htmlFor={id}>{label}</label>
        {changed && <span className={styles.changed}>{changed}</span>}
      </div>
      {children({ id, 'aria-describedby': `${id}-help ${id}-error`, 'aria-invalid': Boolean(error) })}
      <p id={`${id}-error`} className={styles.error} hidden={!error}>
        {error}
      </p>
      <p id={`${id}-help`} className={styles.help} hidden={!help}>
        {help}
      </p>
    </div>
  );
}
