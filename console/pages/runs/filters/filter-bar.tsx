import { RUN_STATUSES_V2 } from '@switchyard/contract/states.ts';
import { useId } from 'react';
import { ChoiceFilter } from './choice-filter.tsx';
import styles from './filter-bar.module.css';
import {
  type FilterChange,
  RUN_TYPE_CHOICES,
  type RunFilters,
  TIME_WINDOWS,
  type TimeWindow,
} from './runs-search.ts';

const WINDOW_LABELS: Record<TimeWindow, string> = {
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
};

/** The filters behind the disclosure: label, and an example of a value. */
const MORE_FILTERS = {
  name: ['Name', 'the whole name'],
  tag: ['Tags', 'reference,board meeting'],
  instance: ['Instances', 'production,test'],
  version: ['Versions', 'v2,v3'],
  user: ['Users', 'planner@example.com'],
  indicator: ['Indicators', 'result.value:..1000'],
  option: ['Options', 'duration:10..60'],
} as const;
type MoreFilter = keyof typeof MORE_FILTERS;

function isMoreFilter(name: string): name is MoreFilter {
  return Object.hasOwn(MORE_FILTERS, name);
}

interface FilterBarProps {
  filters: RunFilters;
  onChange: (change: FilterChange) => void;
}

/** The filters of the runs table. Each is a search parameter of the same meaning. */
export function FilterBar({ filters, onChange }: FilterBarProps) {
  const more = Object.keys(MORE_FILTERS).filter(isMoreFilter);
  const isOpen = filters.type !== undefined || more.some((name) => filters[name] !== undefined);
  return (
    <search className={styles.filters} aria-label="Filters">
      <TextFilter
        label="Search"
        example="name, id or description"
        value={filters.text}
        onChange={(text) => onChange({ text })}
      />
      <ChoiceFilter
        label="Status"
        choices={RUN_STATUSES_V2}
        value={filters.status}
        onChange={(status) => onChange({ status })}
      />
      <TimeFilter filters={filters} onChange={onChange} />
      <details className={styles.more} open={isOpen}>
        <summary>More filters</summary>
        <div className={styles.fields}>
          <ChoiceFilter
            label="Type"
            choices={RUN_TYPE_CHOICES}
            value={filters.type}
            onChange={(type) => onChange({ type })}
          />
          {more.map((name) => (
            <TextFilter
              key={name}
              label={MORE_FILTERS[name][0]}
              example={MORE_FILTERS[name][1]}
              value={filters[name]}
              onChange={(value) => onChange({ [name]: value })}
            />
          ))}
        </div>
      </details>
    </search>
  );
}

function TimeFilter({ filters, onChange }: FilterBarProps) {
  const id = useId();
  return (
    <span className={styles.filter}>
      <label htmlFor={id}>Created</label>
      <select
        id={id}
        value={filters.within ?? ''}
        onChange={(event) =>
          onChange({ within: TIME_WINDOWS.find((window) => window === event.target.value) })
        }
      >
        <option value="">Last year</option>
        {TIME_WINDOWS.map((window) => (
          <option key={window} value={window}>
            {WINDOW_LABELS[window]}
          </option>
        ))}
      </select>
    </span>
  );
}

/** A filter that applies when the reader presses Enter or leaves the field. */
function TextFilter({
  label,
  example,
  value = '',
  onChange,
}: {
  label: string;
  example: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}) {
  const id = useId();
  const apply = (text: string) => {
    if (text.trim() !== value) onChange(text.trim() || undefined);
  };
  return (
    <span className={styles.filter}>
      <label htmlFor={id}>{label}</label>
      <input
        // A change of the address, as by the back button, replaces the text.
        key={value}
        id={id}
        type="search"
        placeholder={example}
        defaultValue={value}
        onBlur={(event) => apply(event.target.value)}
        onKeyDown={(event) => event.key === 'Enter' && apply(event.currentTarget.value)}
      />
    </span>
  );
}
