import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { type FormEvent, useState } from 'react';
import { containsWords } from '../../client/contains-words.ts';
import { Button } from '../button.tsx';
import styles from './filters.module.css';

interface ChoiceEditorProps {
  choices: readonly string[];
  value: readonly string[];
  /** Each press applies. */
  onChange: (values: string[]) => void;
  /** Lets the reader add a value that is not among the choices. */
  mayType?: boolean;
  /** A second choice replaces the first. */
  isSingle?: boolean;
  /** What a person reads; the default is the choice itself. */
  labelOf?: (choice: string) => string;
  /** Receives what the reader types, for choices that the server searches. */
  onSearch?: (text: string) => void;
}

/** More choices than this get a field that searches them. */
const SHOWN_MAX = 8;
/** Nobody reads more rows: the field finds the others. */
const ROWS_MAX = 100;

/** One or several of the choices of a filter. */
export function ChoiceEditor(props: ChoiceEditorProps) {
  const { choices, value, onChange, mayType = false, isSingle = false, onSearch } = props;
  const labelOf = props.labelOf ?? String;
  const [text, setText] = useState('');
  // The address follows a press only when the list has answered.
  const [chosen, setChosen] = useState(value);
  const all = [...new Set([...choices, ...chosen])].filter(Boolean);
  const wanted = text.trim();
  const matching = all.filter((choice) => containsWords(`${labelOf(choice)} ${choice}`, wanted));
  const toggle = (choice: string) => {
    const others = chosen.filter((one) => one !== choice);
    const added = isSingle ? [choice] : [...chosen, choice];
    const next = others.length === chosen.length ? added : others;
    setChosen(next);
    onChange(next);
  };
  const search = (typed: string) => {
    setText(typed);
    onSearch?.(typed.trim());
  };
  const add = (event: FormEvent) => {
    event.preventDefault();
    const target = matching.length === 1 || !mayType ? matching[0] : wanted;
    if (target) toggle(target);
    search('');
  };
  return (
    <form onSubmit={add}>
      {(mayType || choices.length > SHOWN_MAX) && (
        <input
          // biome-ignore lint/a11y/noAutofocus: the person has just opened this field
          autoFocus
          aria-label={mayType ? 'Search or add a value' : 'Search'}
          placeholder={choices.length > 0 ? 'Search' : 'Type a value, then Enter'}
          value={text}
          onChange={(event) => search(event.target.value)}
        />
      )}
      <div className={styles.choices}>
        {matching.slice(0, ROWS_MAX).map((choice) => (
          <label key={choice}>
            <input type="checkbox" checked={chosen.includes(choice)} onChange={() => toggle(choice)} />
            <bdi>{escapeInvisible(labelOf(choice))}</bdi>
          </label>
        ))}
        {mayType && wanted !== '' && !all.includes(wanted) && (
          <Button type="submit" kind="quiet">
            Add “{escapeInvisible(wanted)}”
          </Button>
        )}
      </div>
    </form>
  );
}
