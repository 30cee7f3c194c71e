import { EXPERIMENT_TYPES, EXPERIMENTS } from '@switchyard/contract/experiment-types/experiment-types.ts';
import { VERDICT_WORDS } from '@switchyard/contract/experiments/presentation/rate-experiment.ts';
import { EXPERIMENT_STATUSES } from '@switchyard/contract/states.ts';
import { useNavigate } from '@tanstack/react-router';
import { useId } from 'react';
import styles from './experiments-page.module.css';
import { type ExperimentsSearch, parseSearch } from './search.ts';

const FILTERS = [
  {
    key: 'type',
    label: 'Type',
    all: 'All types',
    options: EXPERIMENT_TYPES.map((value) => ({ value, label: EXPERIMENTS[value].label })),
  },
  {
    key: 'status',
    label: 'Status',
    all: 'All statuses',
    options: EXPERIMENT_STATUSES.map((value) => ({ value, label: value })),
  },
  {
    key: 'verdict',
    label: 'Verdict',
    all: 'All verdicts',
    options: VERDICT_WORDS.map((value) => ({ value, label: value })),
  },
] as const;

/** Filters of the list; they are in the address. The API filters by type and status, and the page by verdict. */
export function ExperimentFilters({ search }: { search: ExperimentsSearch }) {
  const navigate = useNavigate({ from: '/apps/$application/experiments' });
  const id = useId();
  return (
    <search className={styles.tools} aria-label="Filters">
      {FILTERS.map(({ key, label, all, options }) => (
        <label key={key} htmlFor={`${id}${key}`}>
          {label}
          <select
            id={`${id}${key}`}
            value={search[key] ?? ''}
            onChange={(event) =>
              void navigate({ search: parseSearch({ ...search, [key]: event.target.value }), replace: true })
            }
          >
            <option value="">{all}</option>
            {options.map((option) => (
              <option key={option.value} value={option.value}>
                {option.label}
              </option>
            ))}
          </select>
        </label>
      ))}
    </search>
  );
}
