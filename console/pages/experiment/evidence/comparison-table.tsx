import type {
  Comparison,
  SwitchbackComparison,
} from '@switchyard/contract/experiments/experiment-results.ts';
import { formatChange, formatInterval } from '@switchyard/contract/experiments/presentation/effects.ts';
import { formatNumber, formatSides } from '@switchyard/contract/presentation/format-quantity.ts';
import { viewIndicator } from '@switchyard/contract/views/experiment-view.ts';
import { INDICATOR_COLUMNS } from '@switchyard/contract/views/indicator-columns.ts';
import { DataTable } from '../../../ui/data-table/data-table.tsx';
import { VerdictBadge } from '../../../ui/experiments/verdict-badge.tsx';
import styles from './evidence.module.css';

/** A row of texts, by the title of their column. */
interface Row {
  indicator: string;
  /** What stands behind the name. */
  note: string;
  verdict?: string;
  texts: Readonly<Record<string, string>>;
}

const NUMBERS = INDICATOR_COLUMNS.filter(({ isNumeric }) => isNumeric).map(({ title }) => title);
const WON = 'Won / tied / lost';

/** Every indicator of one candidate: both means, also with a value for failed runs, the change, the p-values and the verdict. */
export function ComparisonTable({ comparisons }: { comparisons: readonly Comparison[] }) {
  const hasFailureValue = comparisons.some(({ with_failures }) => with_failures);
  return (
    <IndicatorTable
      numbers={[...NUMBERS, WON]}
      rows={comparisons.flatMap((comparison) => {
        const { indicator, inputs, more_inputs, with_failures: means } = comparison;
        const counts = { [WON]: `${inputs.wins} / ${inputs.ties} / ${inputs.losses}` };
        return [
          buildRow(comparison, more_inputs, counts),
          ...(means ? [buildFailures(indicator, means)] : []),
        ];
      })}
      hint={`p is the test of sign flips. Adjusted p is corrected by Holm's weighted method for every indicator of every candidate; the verdict uses it. Won, tied and lost count any difference, as the tests do; the sentence at the top counts by the margin.${
        hasFailureValue
          ? ' A row with failed runs has the means over every input, with the failure value of the indicator for each failed run. For a time and ten times its limit, that is PAR10. It changes no verdict.'
          : ''
      }`}
    />
  );
}

/** Every indicator of a switchback test, by the randomisation test. */
export function SwitchbackTable({ comparisons }: { comparisons: readonly SwitchbackComparison[] }) {
  return (
    <IndicatorTable
      numbers={[...NUMBERS, 'Units counted']}
      rows={comparisons.map((comparison) =>
        buildRow(comparison, comparison.more_units, {
          'Units counted': `${comparison.control.units.counted} + ${comparison.candidate.units.counted}`,
        }),
      )}
      hint="p is the share of random plans with at least this difference. Adjusted p is corrected by Holm's weighted method for every indicator; the verdict uses it."
    />
  );
}

interface IndicatorTableProps {
  numbers: readonly string[];
  rows: readonly Row[];
  hint: string;
}

function IndicatorTable({ numbers, rows, hint }: IndicatorTableProps) {
  return (
    <>
      <DataTable
        label="Comparison of each indicator"
        rows={rows}
        keyOf={({ indicator, note }) => `${indicator} ${note}`}
        columns={[
          {
            title: 'Indicator',
            wraps: true,
            cell: ({ indicator, note }) => (
              <>
                <bdi>{indicator}</bdi>
                {note && <span className="meta"> {note}</span>}
              </>
            ),
          },
          { title: 'Verdict', cell: ({ verdict }) => verdict && <VerdictBadge verdict={verdict} /> },
          ...[...numbers, 'Would decide'].map((title) => ({
            ...{ title, kind: 'number' as const },
            cell: ({ texts }: Row) => texts[title] ?? '–',
          })),
        ]}
      />
      <p className={styles.hint}>{hint}</p>
    </>
  );
}

function buildRow(
  comparison: Comparison | SwitchbackComparison,
  more: number | null,
  counts: Readonly<Record<string, string>>,
): Row {
  const view = viewIndicator(comparison);
  const texts = INDICATOR_COLUMNS.map(({ title, value }) => [title, value(view) || '–']);
  return {
    ...{ indicator: view.indicator, verdict: view.verdict, note: view.role === 'other' ? '' : view.role },
    texts: {
      ...Object.fromEntries(texts),
      ...counts,
      ...(more !== null && { 'Would decide': `~${formatNumber(more)} more` }),
    },
  };
}

/** The means with the failure value for every failed run. Their change is a difference, also where the verdict uses a ratio. */
function buildFailures(indicator: string, means: NonNullable<Comparison['with_failures']>): Row {
  const { failure_value, control_mean, candidate_mean, mean_difference: difference } = means;
  const { low, high } = difference?.interval ?? { low: null, high: null };
  const [control, candidate] = formatSides([control_mean, candidate_mean]);
  const effect = { measure: 'absolute', value: difference?.value ?? null, low, high, margin: null } as const;
  return {
    ...{ indicator, note: `with failed runs as ${formatNumber(failure_value)}` },
    texts: {
      ...{ Control: control ?? '–', Candidate: candidate ?? '–' },
      Change: effect.value === null ? '–' : formatChange('absolute', effect.value),
      '95 % interval': formatInterval(effect) ?? '–',
    },
  };
}
