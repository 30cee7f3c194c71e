import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { Icon } from '@switchyard/design/icon.tsx';
import { Link } from '@tanstack/react-router';
import form from '../../ui/forms/form.module.css';
import { SelectField } from '../../ui/forms/text-field.tsx';
import { nameTarget } from './list-missing.ts';
import styles from './new-experiment-page.module.css';

/** More candidates than this are searched, and those that are chosen stand as chips. */
const LISTED_MAX = 12;

interface CandidateFieldsProps {
  application: string;
  legend: string;
  choices: readonly { value: string; label: string }[];
  chosen: readonly string[];
  onChange: (chosen: readonly string[]) => void;
}

/** Several candidates, none of which is chosen at the start. */
export function CandidateFields({ application, legend, choices, chosen, onChange }: CandidateFieldsProps) {
  const toggle = (id: string) =>
    onChange(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id]);
  const isLong = choices.length > LISTED_MAX;
  const rest = choices.filter(({ value }) => !chosen.includes(value));
  return (
    <fieldset className={form.choices} id={nameTarget('sides')}>
      <legend className={isLong ? 'visually-hidden' : undefined}>{legend}</legend>
      {choices.length === 0 && (
        <p className="soft">
          There is no other instance.{' '}
          <Link to="/apps/$application/new-instance" params={{ application }}>
            Create one
          </Link>
        </p>
      )}
      {isLong ? (
        <div className={styles.chooser}>
          <SelectField
            label="Add a candidate"
            help="By a part of its id."
            value=""
            options={[{ value: '', label: 'Choose an instance' }, ...rest]}
            onChange={(id) => id !== '' && toggle(id)}
          />
          <ul className={styles.chips} aria-label="Chosen candidates">
            {choices
              .filter(({ value }) => chosen.includes(value))
              .map(({ value, label }) => (
                <li key={value} title={label}>
                  <bdi>{escapeInvisible(label)}</bdi>
                  <button
                    type="button"
                    aria-label={`Remove ${escapeInvisible(label)}`}
                    onClick={() => toggle(value)}
                  >
                    <Icon name="close" />
                  </button>
                </li>
              ))}
          </ul>
        </div>
      ) : (
        choices.map(({ value, label }) => (
          <label key={value} className={form.choice}>
            <input type="checkbox" checked={chosen.includes(value)} onChange={() => toggle(value)} />
            <bdi>{escapeInvisible(label)}</bdi>
          </label>
        ))
      )}
    </fieldset>
  );
}
