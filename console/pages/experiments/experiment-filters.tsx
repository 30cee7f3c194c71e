import { EXPERIMENT_TYPES, EXPERIMENTS } from '@switchyard/contract/experiment-types/experiment-types.ts';
import { EXPERIMENT_STATUSES } from '@switchyard/contract/states.ts';
import { useNavigate } from '@tanstack/react-router';
import { useId } from 'react';
import styles from './experiments-page.module.css';
import { type ExperimentsSearch, parseSearch } from './search.ts';

/** Verdicts of all types, in words. */
const VERDICTS = [
  'better',
  'best',
  'equivalent',
  'same',
  'worse',
  'none better',
  'undecided',
  'accepted',
  'not accepted',
  'cannot say',
  'found',
  'narrowed',
  'not distinguishable',
  'stopped',
  'failed',
];

/** Filters of the list; they are in the address. The API filters by type, and the page by status and verdict. */
export function ExperimentFilters({ search }: { search: ExperimentsSearch }) {
  const navigate = useNavigate({ from: '/apps/$application/experiments' });
  const change = (key: keyof ExperimentsSearch, value: string) =>
    void navigate({ search: parseSearch({ ...search, [key]: value }), replace: true });
  return (
    <search className={styles.tools} aria-label="Filters">
      <Filter
        label="Type"
        value={search.type}
        all="All types"
        options={EXPERIMENT_TYPES.map((value) => ({ value, label: EXPERIMENTS[value].label }))}
        onChange={(value) => change('type', value)}
      />
      <Filter
        label="Status"
        value={search.status}
        all="All statuses"
        options={EXPERIMENT_STATUSES.map((value) => ({ value, label: value }))}
        onChange={(value) => change('status', value)}
      />
      <Filter
        label="Verdict"
        value={search.verdict}
        all="All verdicts"
        options={VERDICTS.map((value) => ({ value, label: value }))}
        onChange={(value) => change('verdict', value)}
      />
    </search>
  );
}

interface FilterProps {
  label: string;
  value: string | undefined;
  all: string;
  options: readonly { value: string; label: string }[];
  onChange: (value: string) => void;
}

function Filter({ label, value = '', all, options, onChange }: FilterProps) {
  const id = useId();
  return (
    <label htmlFor={id}>
      {label}
      <select id={id} value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">{all}</option>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </label>
  );
}
