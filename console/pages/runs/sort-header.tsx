import styles from './runs-table.module.css';

/** The header of a column by which the server can sort: each press goes from ascending to descending to no order. */
export function SortHeader({
  label,
  field,
  sort,
  className,
  onSort,
}: {
  label: string;
  /** The field of the server. */
  field: string;
  sort: string | undefined;
  className?: string | undefined;
  onSort: (sort: string | undefined) => void;
}) {
  const isAscending = sort === field;
  const isDescending = sort === `-${field}`;
  const next = isAscending ? `-${field}` : isDescending ? undefined : field;
  return (
    <th className={className} aria-sort={isAscending ? 'ascending' : isDescending ? 'descending' : undefined}>
      <button type="button" className={styles.sort} onClick={() => onSort(next)}>
        {label}
        <span aria-hidden="true">{isAscending ? ' ↑' : isDescending ? ' ↓' : ''}</span>
      </button>
    </th>
  );
}
