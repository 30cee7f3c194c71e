import type { Usage, UsageRow } from '@switchyard/contract/account/usage.ts';
import { formatBytes, formatDuration } from '@switchyard/contract/presentation/format-quantity.ts';
import { ApplicationLink } from '../../ui/application-link.tsx';
import { createNumberColumn, DataTable } from '../../ui/data-table/data-table.tsx';
import { formatCoreTime, formatCost } from './format-measures.ts';

type Row = Omit<UsageRow, 'day'>;

/** The usage of each group, largest first, and of all of them. */
export function UsageTable({ usage }: { usage: Usage }) {
  const [first] = usage.items;
  const rows: Row[] = usage.items.toSorted((a, b) => b.core_seconds - a.core_seconds || b.runs - a.runs);
  const hasApplication = first?.application_id !== undefined;
  return (
    <DataTable<Row>
      label="Usage"
      rows={rows}
      keyOf={({ application_id, user_email }) => `${application_id} ${user_email}`}
      total={usage.total}
      columns={[
        hasApplication && {
          title: 'Application',
          sortBy: ({ application_name }) => application_name,
          cell: ({ application_id: id, application_name: name }) =>
            id === undefined || name === undefined ? 'Total' : <ApplicationLink id={id} name={name} />,
        },
        first?.user_email !== undefined && {
          title: 'User',
          sortBy: ({ user_email }) => user_email,
          cell: ({ user_email }) => user_email ?? (hasApplication ? '' : 'Total'),
        },
        createNumberColumn('Runs', ({ runs }) => runs),
        createNumberColumn('Failed', ({ failed_runs }) => failed_runs),
        createNumberColumn(
          'Run time',
          ({ run_seconds }) => run_seconds,
          (seconds) => formatDuration(seconds * 1000),
        ),
        createNumberColumn('Core hours', ({ core_seconds }) => core_seconds, formatCoreTime),
        createNumberColumn('Stored', ({ stored_bytes }) => stored_bytes, formatBytes),
        {
          title: 'Cost',
          kind: 'number',
          sortBy: ({ cost }) => cost,
          cell: ({ cost }) => formatCost(cost, usage.cost_rate),
        },
      ]}
    />
  );
}
