import { useState } from 'react';
import { Button } from '../button.tsx';
import { Field } from '../forms/field.tsx';
import styles from './option-fields.module.css';

interface OtherOptionsProps {
  /** Names of the options that have a field of their own. */
  declared: readonly string[];
  options: Readonly<Record<string, string>>;
  onChange: (options: Readonly<Record<string, string>>) => void;
}

/** The options that the app does not declare, and a way to add one. */
export function OtherOptions({ declared, options, onChange }: OtherOptionsProps) {
  const [name, setName] = useState('');
  const others = Object.keys(options).filter((key) => !declared.includes(key));
  const add = () => {
    onChange({ ...options, [name.trim()]: options[name.trim()] ?? '' });
    setName('');
  };
  return (
    <div className={styles.options}>
      {others.map((key) => (
        <Field key={key} label={key} help="Not declared by the app. Empty: not sent.">
          {(attributes) => (
            <input
              {...attributes}
              value={options[key] ?? ''}
              autoComplete="off"
              onChange={(event) => onChange({ ...options, [key]: event.target.value })}
            />
          )}
        </Field>
      ))}
      <Field label="Other option" help="Name of an option that the app does not declare.">
        {(attributes) => (
          <div className={styles.control}>
            <input
              {...attributes}
              value={name}
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => setName(event.target.value)}
            />
            <Button onPress={add} isDisabled={name.trim() === ''}>
              Add option
            </Button>
          </div>
        )}
      </Field>
    </div>
  );
}
