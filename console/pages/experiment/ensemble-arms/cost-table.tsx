import type { ComparedGroups, Comparison } from '@switchyard/contract/experiments/experiment-results.ts';
import {
  formatChange,
  formatInterval,
  readEffect,
} from '@switchyard/contract/experiments/presentation/effects.ts';
import type { Group } from '@switchyard/contract/experiments/presentation/group-labels.ts';
import { formatDuration } from '@switchyard/contract/presentation/format-quantity.ts';
import { TableHead } from '../../../ui/resources/table-head.tsx';
import { TableRegion } from '../../../ui/resources/table-region.tsx';
import table from '../../../ui/table.module.css';
import view from '../comparison/comparison-view.module.css';
import { SearchLink } from '../search-link.tsx';

/** Seconds for which apps ran for one result: all child runs of an ensemble, or the one run of another side. */
const COST = 'run.total_duration';

interface CostTableProps {
  compared: readonly ComparedGroups[];
  nameGroup: (group: Group) => string;
}

/** The run time that each side costs for a result, beside that of the control. */
export function CostTable({ compared, nameGroup }: CostTableProps) {
  const costs = compared.flatMap(({ control, candidate, indicators }) => {
    const cost = indicators.find(({ indicator }) => indicator === COST);
    return cost ? [{ control, name: nameGroup(candidate), cost }] : [];
  });
  const [first] = costs;
  if (!first) return null;
  return (
    <section aria-label="Cost of each side" className={view.section}>
      <h3>Cost of each side</h3>
      <p className={view.hint}>
        Mean time for which apps ran for one result. An ensemble costs the time of all its child runs.
      </p>
      <TableRegion label="Run time of each side">
        <table className={table.table}>
          <TableHead texts={['Side']} numbers={['Run time', 'Change', '95 % interval']} />
          <tbody>
            <tr>
              <td>
                <bdi>{nameGroup(first.control)}</bdi> (control)
              </td>
              <td className={table.number}>{formatCost(first.cost.control.mean)}</td>
              <td className={table.number}>–</td>
              <td className={table.number}>–</td>
            </tr>
            {costs.map(({ name, cost }) => (
              <Row key={name} name={name} cost={cost} />
            ))}
          </tbody>
        </table>
      </TableRegion>
    </section>
  );
}

function Row({ name, cost }: { name: string; cost: Comparison }) {
  const effect = readEffect(cost);
  return (
    <tr>
      <td>
        <SearchLink changed={{ candidate: name, indicator: COST }}>
          <bdi>{name}</bdi>
        </SearchLink>
      </td>
      <td className={table.number}>{formatCost(cost.candidate.mean)}</td>
      <td className={table.number}>
        {effect.value === null ? '–' : formatChange(effect.measure, effect.value)}
      </td>
      <td className={table.number}>{formatInterval(effect) ?? '–'}</td>
    </tr>
  );
}

function formatCost(seconds: number | null): string {
  return seconds === null ? '–' : formatDuration(seconds * 1000);
}
