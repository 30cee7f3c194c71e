import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import {
  formatDuration,
  formatNumber,
  formatObjective,
  formatPercent,
} from '@switchyard/contract/presentation/format-quantity.ts';
import { describeStatus, nameSolver } from '@switchyard/contract/runs/presentation/describe-solve.ts';
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import type { RunSolve } from '@switchyard/contract/runs/run-series.ts';
import { useQuery } from '@tanstack/react-query';
import { type DataColumn, DataTable } from '../../../ui/data-table/data-table.tsx';
import { seriesQuery } from '../queries.ts';
import styles from './summary-tab.module.css';

const SECOND_MS = 1_000;

/** Returns a cell with a number that a log may not state. */
const write = (value: number | null, format: (value: number) => string): string =>
  value === null ? '–' : format(value);
const writeSeconds = (seconds: number | null): string =>
  write(seconds, (value) => formatDuration(value * SECOND_MS));

const COLUMNS: readonly DataColumn<RunSolve>[] = [
  { title: 'Solver', cell: (solve) => nameSolver(solve) },
  { title: 'End', cell: (solve) => describeStatus(solve) ?? 'not stated', wraps: true },
  { title: 'Objective', kind: 'number', cell: ({ objective }) => write(objective, formatObjective) },
  { title: 'Bound', kind: 'number', cell: ({ bound }) => write(bound, formatObjective) },
  { title: 'Gap', kind: 'number', cell: ({ gap }) => write(gap, formatPercent) },
  { title: 'Nodes', kind: 'number', cell: ({ nodes }) => write(nodes, formatNumber) },
  { title: 'Began', kind: 'number', cell: ({ x }) => writeSeconds(x) },
  { title: 'Took', kind: 'number', cell: ({ seconds }) => writeSeconds(seconds) },
  { title: 'Threads', kind: 'number', cell: ({ threads }) => write(threads, formatNumber) },
];

/** What the log says about each solve. Nothing for a log without a solver. */
export function SolveList({ run: { application_id: application, id } }: { run: RunInformation }) {
  const { data } = useQuery(seriesQuery({ application, run: id }));
  const solves = data?.solves ?? [];
  if (solves.length === 0) return null;
  const columns = COLUMNS.filter(
    ({ title }) => title !== 'Threads' || solves.some(({ threads }) => threads !== null),
  );
  return (
    <section className={styles.section} aria-labelledby="solves">
      <h2 id="solves">{solves.length === 1 ? 'Solver' : formatCount(solves.length, 'solve')}</h2>
      <DataTable label="Solves" rows={solves} columns={columns} keyOf={({ solve }) => String(solve)} />
    </section>
  );
}
