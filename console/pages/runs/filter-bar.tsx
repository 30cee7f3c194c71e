import { useId } from 'react';
import styles from './filter-bar.module.css';
import { type RunFilters, TIME_WINDOWS, type TimeWindow } from './runs-search.ts';

const WINDOW_LABELS: Record<TimeWindow, string> = {
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
};

/** A change of filters; undefined removes one. */
type FilterChange = { [Name in keyof RunFilters]?: RunFilters[Name] | undefined };

/** The filters of the runs table. Each is a search parameter of the same meaning. */
export function FilterBar({
  filters,
  onChange,
}: {
  filters: RunFilters;
  onChange: (change: FilterChange) => void;
}) {
  const id = useId();
  return (
    <search className={styles.filters} aria-label="Filters">
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
    </search>
  );
}
