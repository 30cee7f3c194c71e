import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { describeChange } from '@switchyard/contract/presentation/format-change.ts';
import {
  distinguish,
  formatNumber,
  formatObjective,
} from '@switchyard/contract/presentation/format-quantity.ts';
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import { Fragment, useId } from 'react';
import { type JudgedIndicator, useMeaning } from '../../../client/indicator-meaning.ts';
import { LinkButton } from '../../../ui/button.tsx';
import { ChangeText } from '../../../ui/resources/change-text.tsx';
import { TableHead } from '../../../ui/resources/table-head.tsx';
import table from '../../../ui/table.module.css';
import { useBaseline } from '../progress/baseline.ts';
import { BaselineChooser } from './baseline-chooser.tsx';
import styles from './summary-tab.module.css';

const EXAMPLE = '{"statistics": {"schema": "v1", "result": {"value": 1040.6}}}';

interface IndicatorTableProps {
  run: RunInformation;
  /** Id of the chosen baseline; undefined for the default. */
  chosenBaseline: string | undefined;
  onChooseBaseline: (id: string | undefined) => void;
}

/** The indicators that the run reported, the objective first, with their change to a baseline run. */
export function IndicatorTable({ run, chosenBaseline, onChooseBaseline }: IndicatorTableProps) {
  const headingId = useId();
  const { indicators } = run.statistics;
  const { baseline, candidates } = useBaseline(run, chosenBaseline);
  return (
    <section className={styles.section} aria-labelledby={headingId}>
      <h2 id={headingId}>Indicators</h2>
      {indicators.length === 0 ? (
        <p className="soft">
          {isTerminal(run.status_v2)
            ? 'The output has none. An app reports them like this: '
            : 'They appear when the run has ended.'}
          {isTerminal(run.status_v2) && <code>{EXAMPLE}</code>}
        </p>
      ) : (
        <>
          <IndicatorValues run={run} baseline={baseline} />
          <div className={styles.baseline}>
            <BaselineChooser baseline={baseline} candidates={candidates} onChoose={onChooseBaseline} />
            {baseline && (
              <LinkButton
                to="/apps/$application/compare"
                params={{ application: run.application_id }}
                search={{ runs: `${baseline.id},${run.id}` }}
              >
                Compare with the baseline
              </LinkButton>
            )}
          </div>
        </>
      )}
    </section>
  );
}

function IndicatorValues({ run, baseline }: { run: RunInformation; baseline: RunInformation | undefined }) {
  const before = new Map(baseline?.statistics.indicators.map(({ name, value }) => [name, value]));
  const { objective, describe } = useMeaning(run.application_id);
  const rows = run.statistics.indicators.map((one) => ({
    ...one,
    judged: describe(one.name),
    isObjective: one.name === objective.name,
  }));
  return (
    <div className={table.scroll}>
      <table className={`${table.table} ${styles.indicators}`}>
        <TableHead texts={['Name']} numbers={['Value', ...(baseline ? ['To the baseline'] : [])]}>
          {!baseline && <td />}
        </TableHead>
        <tbody>
          {rows
            .toSorted((one, other) => Number(other.isObjective) - Number(one.isObjective))
            .map(({ name, value, source, judged, isObjective }) => (
              <tr key={`${source ?? ''} ${name}`} className={isObjective ? styles.objective : undefined}>
                <td className="anywhere" title={name}>
                  <bdi>
                    <BreakableName name={judged.label} />
                  </bdi>
                  {source !== undefined && <span className={styles.source}> · {source}</span>}
                </td>
                <td
                  className={`${table.number} ${typeof value === 'number' ? 'nowrap' : 'anywhere'}`}
                  title={typeof value === 'number' ? formatNumber(value) : String(value)}
                >
                  <bdi>
                    {[formatIndicator(value, before.get(name)), judged.unit].filter(Boolean).join('\u00a0')}
                  </bdi>
                </td>
                <td className={`${table.number} ${styles.change}`}>
                  <ValueChange before={before.get(name)} value={value} judged={judged} />
                </td>
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  );
}

type Value = string | number | boolean;

/** Returns the value with enough digits to differ from that of the baseline. */
function formatIndicator(value: Value, before: Value | undefined): string {
  if (typeof value !== 'number') return String(value);
  return distinguish([value, typeof before === 'number' ? before : undefined], formatObjective)(value);
}

interface ChangeProps {
  before: Value | undefined;
  value: Value;
  judged: JudgedIndicator;
}

/** The change from `before` to `value`, such as `▼ −2.9 %` or `=`; nothing without a value before. */
function ValueChange({ before, value, judged }: ChangeProps) {
  if (before === undefined) return '';
  if (before === value) return '=';
  if (typeof before !== 'number' || typeof value !== 'number')
    return <bdi>was {escapeInvisible(String(before).slice(0, 80))}</bdi>;
  return <ChangeText change={describeChange(before, value, judged)} title={`was ${formatNumber(before)}`} />;
}

/** A dotted name that breaks after its dots and underscores first. */
function BreakableName({ name }: { name: string }) {
  return name.split(/(?<=[._])/u).map((part, index) => (
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
