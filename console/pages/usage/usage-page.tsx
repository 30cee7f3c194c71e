import type { Usage } from '@switchyard/contract/account/usage.ts';
import { describeChange } from '@switchyard/contract/presentation/format-change.ts';
import {
  formatBytes,
  formatNumber,
  formatPercent,
} from '@switchyard/contract/presentation/format-quantity.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Answer, type AnswerNumber } from '../../ui/answer.tsx';
import { Button } from '../../ui/button.tsx';
import { formatCsv } from '../../ui/content/format-csv.ts';
import { saveFile } from '../../ui/content/save-file.ts';
import { EmptyState } from '../../ui/empty-state.tsx';
import { SelectField } from '../../ui/forms/text-field.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { CostRateDialog } from './cost-rate-dialog.tsx';
import { formatCoreTime, formatCost } from './format-measures.ts';
import { findRange, usageQuery } from './queries.ts';
import { CHART_MEASURES, completeSearch, parseUsageSearch, RANGES, TABLE_GROUPS } from './search.ts';
import { UsageChart } from './usage-chart.tsx';
import styles from './usage-page.module.css';
import { UsageTable } from './usage-table.tsx';

/** Runs, execution time, stored bytes and cost of the account, by day, application and user. */
export function UsagePage() {
  usePageTitle('Usage');
  const { days, by, show } = completeSearch(useSearch({ from: '/signed-in/account/usage' }));
  const range = findRange(days);
  const { data: daily } = useSuspenseQuery(usageQuery(range, 'day'));
  const { data: grouped } = useSuspenseQuery(usageQuery(range, by));
  const { data: before } = useSuspenseQuery(usageQuery(range.before, 'day'));
  const [isEditing, setEditing] = useState(false);
  const rate = grouped.cost_rate;
  return (
    <>
      <PageHeader
        title="Usage"
        description={
          rate === null
            ? 'Runs that ended, by day in UTC. Set a cost rate to see their cost.'
            : `Runs that ended, by day in UTC. A core hour costs ${rate.per_core_hour} ${rate.currency}.`
        }
        actions={
          <>
            <Button onPress={() => setEditing(true)}>Cost rate</Button>
            <Button
              onPress={() =>
                saveFile(`usage-${grouped.from}-${grouped.to}.csv`, buildCsv(grouped.items), 'text/csv')
              }
            >
              Download CSV
            </Button>
          </>
        }
      />
      <UsageAnswer usage={grouped} before={before} isMonth={days === undefined} />
      <Choices days={days} by={by} show={show} />
      {grouped.items.length === 0 ? (
        <EmptyState title="No run ended in this range" command={COMMAND}>
          <p>
            Choose a longer range, or create a run on the page of an application. The same numbers by curl:
          </p>
        </EmptyState>
      ) : (
        <>
          <UsageChart from={daily.from} to={range.chartEnd} rows={daily.items} measure={show} rate={rate} />
          <UsageTable usage={grouped} />
        </>
      )}
      {isEditing && <CostRateDialog rate={rate} onClose={() => setEditing(false)} />}
    </>
  );
}

interface UsageAnswerProps {
  /** The usage of the range, by the group of the table. */
  usage: Usage;
  /** The usage of the range before. */
  before: Usage;
  isMonth: boolean;
}

/** What the range costs, compared with the one before, and for whom most of it was. */
function UsageAnswer({ usage, before, isMonth }: UsageAnswerProps) {
  const { total, cost_rate: rate, items } = usage;
  const against = isMonth ? 'the same days of last month' : 'the days before';
  const compare = (value: number, other: number): string =>
    other === 0
      ? `none in ${against}`
      : `${describeChange(other, value, { format: formatNumber }).signed} to ${against}`;
  const [largest] = items.toSorted((one, other) => other.core_seconds - one.core_seconds);
  const numbers: (AnswerNumber | false)[] = [
    rate !== null && {
      label: isMonth ? 'Cost this month' : 'Cost',
      text: formatCost(total.cost, rate),
      note: compare(total.cost ?? 0, before.total.cost ?? 0),
    },
    {
      label: 'Core hours',
      text: formatCoreTime(total.core_seconds),
      note: compare(total.core_seconds, before.total.core_seconds),
    },
    largest !== undefined &&
      total.core_seconds > 0 && {
        label: 'Largest share',
        text: formatPercent(largest.core_seconds / total.core_seconds),
        note: <bdi>{[largest.application_name, largest.user_email].filter(Boolean).join(', ')}</bdi>,
      },
    {
      label: 'Runs',
      text: formatNumber(total.runs),
      note:
        total.runs > 0 &&
        `${formatNumber(total.failed_runs)} failed, ${formatPercent(total.failed_runs / total.runs)}`,
    },
    { label: 'Stored', text: formatBytes(total.stored_bytes), note: 'inputs and outputs' },
  ];
  return <Answer numbers={numbers.filter((one) => one !== false)} />;
}

const COMMAND = `curl "$SWITCHYARD_URL/v1/account/usage?group_by=application,user" \\
  -H "Authorization: Bearer $SWITCHYARD_TOKEN"`;

/** Returns the rows as CSV, with the columns of the first. */
const buildCsv = (rows: readonly Record<string, unknown>[]): string =>
  formatCsv({ columns: Object.keys(rows[0] ?? {}), rows });

function Choices({ days, by, show }: ReturnType<typeof completeSearch>) {
  const navigate = useNavigate();
  const choose = (change: Record<string, unknown>) =>
    navigate({
      to: '/account/usage',
      search: parseUsageSearch({ ...{ days, by, show }, ...change }),
      replace: true,
      resetScroll: false,
    });
  const listOptions = (labels: Record<string, string>) =>
    Object.entries(labels).map(([value, label]) => ({ value, label }));
  return (
    <div className={styles.choices}>
      <SelectField
        label="Range"
        value={String(days ?? '')}
        options={[
          { value: '', label: 'This month' },
          ...RANGES.map((range) => ({ value: String(range), label: `Last ${range} days` })),
        ]}
        onChange={(value) => void choose({ days: Number(value) })}
      />
      <SelectField
        label="Chart"
        value={show}
        options={listOptions(CHART_MEASURES)}
        onChange={(value) => void choose({ show: value })}
      />
      <SelectField
        label="Group by"
        value={by}
        options={listOptions(TABLE_GROUPS)}
        onChange={(value) => void choose({ by: value })}
      />
    </div>
  );
}
