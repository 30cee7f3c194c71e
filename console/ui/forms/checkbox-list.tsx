import type { ReactNode } from 'react';
import styles from './checkbox-list.module.css';

interface CheckboxListProps {
  /** Names the resources, such as `Inputs`. */
  title: string;
  choices: readonly { id: string; name: string }[];
  chosen: ReadonlySet<string>;
  onChange: (chosen: ReadonlySet<string>) => void;
  /** Follows the choices, such as a button that loads more of them. */
  children?: ReactNode;
}

/** Check boxes of resources in a frame that scrolls, with the number of those that are chosen. */
export function CheckboxList({ title, choices, chosen, onChange, children }: CheckboxListProps) {
  const toggle = (id: string) => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    onChange(next);
  };
  return (
    <fieldset className={styles.choices}>
      <legend>
        {title} ({chosen.size})
      </legend>
      {choices.map(({ id, name }) => (
        <label key={id} className={styles.choice}>
          <input type="checkbox" checked={chosen.has(id)} onChange={() => toggle(id)} />
          <span>
            {name || id} {name !== '' && name !== id && <code className="soft">{id}</code>}
          </span>
        </label>
      ))}
      {children}
    </fieldset>
  );
}
