import { TableRegion } from '../../ui/resources/table-region.tsx';
import { RunLink } from '../../ui/run-link.tsx';
import table from '../../ui/table.module.css';
import styles from './compare-page.module.css';
import type { ComparedGroup, ComparedRow, ComparedRun } from './compare-runs.ts';
import { nameRuns } from './name-runs.ts';

interface ComparisonTableProps {
  application: string;
  runs: readonly ComparedRun[];
  group: ComparedGroup;
}

/** The rows of one group, with one column for each run. The first run is the baseline. */
export function ComparisonTable({ application, runs, group }: ComparisonTableProps) {
  const names = nameRuns(runs);
  return (
    <section aria-label={group.name} className={styles.group}>
      <h2>{group.name}</h2>
      <TableRegion label={`${group.name} of the runs`}>
        <table className={table.table}>
          <thead>
            <tr>
              <th scope="col">Name</th>
              {runs.map((run, index) => (
                <th scope="col" key={run.id}>
                  <RunLink application={application} run={run.id}>
                    <bdi>{names[index]}</bdi>
                  </RunLink>
                  {index === 0 && <span className="meta"> baseline</span>}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {group.rows.map((row) => (
              <Row key={row.name} row={row} />
            ))}
          </tbody>
        </table>
      </TableRegion>
    </section>
  );
}

function Row({ row }: { row: ComparedRow }) {
  return (
    <tr>
      <th scope="row" className={styles.name}>
        <bdi>{row.name}</bdi>
      </th>
      {row.values.map(({ text, change }, index) => (
        <td key={index} className={styles.value}>
          {text === '' ? <span className="soft">none</span> : <bdi>{text}</bdi>}
          {change && (
            <span className={styles.change} data-outcome={change.outcome}>
              {change.text}
              {change.outcome && <span className="visually-hidden"> {change.outcome}</span>}
            </span>
          )}
        </td>
      ))}
    </tr>
  );
}
