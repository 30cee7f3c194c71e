import type { ExperimentType } from '../../ui/experiments/experiment-types.ts';
import { SelectField, TextField } from '../../ui/forms/text-field.tsx';
import type { ExperimentDraft } from './draft.ts';
import styles from './new-experiment-page.module.css';
import type { Choices } from './queries.ts';

interface ObjectiveFieldsProps {
  type: ExperimentType;
  draft: ExperimentDraft;
  choices: Choices;
  change: (values: Partial<ExperimentDraft>) => void;
}

const DIRECTIONS = [
  { value: 'minimize', label: 'Lower is better' },
  { value: 'maximize', label: 'Higher is better' },
];
const UNDIRECTED = { value: 'none', label: 'Neither' };

/** The indicator that decides, its direction, and the difference that does not matter. */
export function ObjectiveFields({ type, draft, choices, change }: ObjectiveFieldsProps) {
  const isBisect = type === 'bisect';
  return (
    <section className={styles.section} aria-label="Objective">
      <div className={styles.row}>
        <IndicatorField
          label="Primary indicator"
          value={draft.indicator}
          indicators={choices.indicators}
          onChange={(indicator) => change({ indicator })}
        />
        <SelectField
          label="Direction"
          value={draft.direction}
          options={isBisect ? DIRECTIONS : [...DIRECTIONS, UNDIRECTED]}
          onChange={(value) =>
            change({ direction: value === 'maximize' || value === 'none' ? value : 'minimize' })
          }
        />
        {!isBisect && (
          <TextField
            label="Margin, %"
            help="Differences up to this share of the control count as equivalent."
            value={draft.margin}
            onChange={(margin) => change({ margin })}
          />
        )}
      </div>
    </section>
  );
}

interface IndicatorFieldProps {
  label: string;
  value: string;
  indicators: readonly string[];
  onChange: (indicator: string) => void;
}

/** The indicator, one of those that recent runs reported. */
export function IndicatorField({ label, value, indicators, onChange }: IndicatorFieldProps) {
  return (
    <SelectField
      label={label}
      help="One of the numbers that recent runs reported."
      value={value}
      options={[...new Set([...indicators, value])]}
      onChange={onChange}
    />
  );
}
