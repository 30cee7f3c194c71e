import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { useId } from 'react';
import styles from './evidence.module.css';

interface Choice {
  label: string;
  options: readonly string[];
  /** The text of an option; the default is the option. */
  name?: (option: string) => string;
  chosen: string;
  onChoose: (option: string) => void;
}

/** Selects what the pictures show. A choice of one option is hidden; a report has no choices. */
export function Choices({ choices }: { choices: readonly Choice[] }) {
  const id = useId();
  const visible = choices.filter(({ options }) => options.length > 1);
  if (visible.length === 0) return null;
  return (
    <div className={styles.choices} data-page-only="">
      {visible.map(({ label, options, chosen, onChoose, name = escapeInvisible }) => (
        <label key={label} htmlFor={`${id}${label}`}>
          {label}
          <select id={`${id}${label}`} value={chosen} onChange={(event) => onChoose(event.target.value)}>
            {[...new Set(options)].map((option) => (
              <option key={option} value={option}>
                {name(option)}
              </option>
            ))}
          </select>
        </label>
      ))}
    </div>
  );
}
