import { Icon } from '@switchyard/design/icon.tsx';
import { useId } from 'react';
import styles from './search-field.module.css';

interface SearchFieldProps {
  label: string;
  example: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
  /** true: each letter applies, because the rows are in the browser. */
  isLive?: boolean;
}

/** A filter that applies when the reader presses Enter or leaves the field. */
export function SearchField({ label, example, value = '', onChange, isLive = false }: SearchFieldProps) {
  const id = useId();
  const apply = (text: string) => {
    if (text.trim() !== value) onChange(text.trim() || undefined);
  };
  return (
    <span className={styles.search}>
      <label htmlFor={id} className="visually-hidden">
        {label}
      </label>
      <Icon name="search" />
      <input
        // A change of the address, as by the back button, replaces the text.
        key={isLive ? undefined : value}
        id={id}
        type="search"
        placeholder={example}
        defaultValue={value}
        onChange={(event) => isLive && apply(event.target.value)}
        onBlur={(event) => apply(event.target.value)}
        onKeyDown={(event) => event.key === 'Enter' && apply(event.currentTarget.value)}
      />
    </span>
  );
}
