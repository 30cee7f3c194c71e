import { capitalise } from '@switchyard/contract/presentation/format-count.ts';
import table from '../table.module.css';
import type { Fact } from './data-items.ts';
import { formatFact, parseClock } from './format-fact.ts';
import { formatName } from './read-routes.ts';

const COLUMNS_MAX = 8;
const SAMPLED_ROWS = 50;

/** A column of a table of facts. */
export interface FactColumn {
  name: string;
  isNumber: boolean;
  /** true: all rows have times of one day, so their date is left out. */
  hasOneDay: boolean;
}

interface FactHolder {
  facts: readonly Fact[];
}

/** Returns the columns for the facts of rows, at most 8. */
export function listFactColumns(rows: readonly FactHolder[]): FactColumn[] {
  const names = new Set(rows.slice(0, SAMPLED_ROWS).flatMap(({ facts }) => facts.map(([name]) => name)));
  const dates = new Set<string>();
  for (const { facts } of rows) for (const [, value] of facts) dates.add(parseClock(value)?.date ?? '');
  dates.delete('');
  return [...names].slice(0, COLUMNS_MAX).map((name) => {
    const values = rows.flatMap(({ facts }) => readFact(facts, name) ?? []);
    return {
      name,
      isNumber: values.every((value) => typeof value === 'number'),
      hasOneDay: dates.size === 1,
    };
  });
}

function readFact(facts: readonly Fact[], name: string): Fact[1] | undefined {
  return facts.find(([one]) => one === name)?.[1];
}

const formatHeader = (name: string): string => capitalise(formatName(name).replaceAll('_', ' '));

/** The headers of the columns. */
export function FactHeaders({ columns }: { columns: readonly FactColumn[] }) {
  return columns.map(({ name, isNumber }) => (
    <th key={name} scope="col" className={isNumber ? table.number : undefined}>
      <bdi>{formatHeader(name)}</bdi>
    </th>
  ));
}

/** The cells of one row. */
export function FactCells({ columns, facts }: { columns: readonly FactColumn[]; facts: readonly Fact[] }) {
  return columns.map(({ name, isNumber, hasOneDay }) => {
    const value = readFact(facts, name);
    const clock = hasOneDay ? parseClock(value)?.clock : undefined;
    return (
      <td
        key={name}
        className={isNumber ? table.number : undefined}
        title={String(value ?? '')}
        data-name={formatHeader(name)}
      >
        <bdi>{clock ?? formatFact(value)}</bdi>
      </td>
    );
  });
}
