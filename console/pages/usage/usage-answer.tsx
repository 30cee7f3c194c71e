import type { Usage } from '@switchyard/contract/account/usage.ts';
import {
  formatBytes,
  formatNumber,
  formatPercent,
} from '@switchyard/contract/presentation/format-quantity.ts';
import { formatChange } from '../../client/judged-values.ts';
import { Answer, type AnswerNumber } from '../../ui/answer.tsx';
import { formatCoreTime, formatCost } from './format-measures.ts';

interface UsageAnswerProps {
  /** The usage of the range, by the group of the table. */
  usage: Usage;
  /** The usage of the range before. */
  before: Usage;
  isMonth: boolean;
}

/** What the range costs, compared with the one before, and for whom most of it was. */
export function UsageAnswer({ usage, before, isMonth }: UsageAnswerProps) {
  const { total, cost_rate: rate, items } = usage;
  const against = isMonth ? 'the same days of last month' : 'the days before';
  const compare = (value: number, other: number): string =>
    other === 0 ? `none in ${against}` : `${formatChange(value / other - 1)} to ${against}`;
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
        note: <bdi>{[largest.application_id, largest.user_email].filter(Boolean).join(', ')}</bdi>,
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
