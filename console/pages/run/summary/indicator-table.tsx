import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import {
  distinguish,
  formatDifference,
  formatNumber,
} from '@switchyard/contract/presentation/format-quantity.ts';
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import { Fragment, useId } from 'react';
import { LinkButton } from '../../../ui/button.tsx';
import table from '../../../ui/table.module.css';
import { useBaseline } from './baseline.ts';
import { BaselineChooser } from './baseline-chooser.tsx';
import styles from './summary-tab.module.css';

const EXAMPLE = '{"statistics": {"schema": "v1", "result": {"value": 1040.6}}}';

interface IndicatorTableProps {
  run: RunInformation;
  /** Id of the chosen baseline; undefined for the default. */
  chosenBaseline: string | undefined;
  onChooseBaseline: (id: string | undefined) => void;
}

/** The indicators that the run reported, in the order of the app, with their change to a baseline run. */
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
  return (
    <div className={table.scroll}>
      <table className={table.table}>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col" className={table.number}>
              Value
            </th>
            {baseline ? (
              <th scope="col" className={table.number}>
                Change
              </th>
            ) : (
              <td />
            )}
          </tr>
        </thead>
        <tbody>
          {run.statistics.indicators.map(({ name, value, source }) => (
            <tr key={`${source ?? ''} ${name}`}>
              <td className={styles.value}>
                <bdi>
                  <BreakableName name={name} />
                </bdi>
                {source !== undefined && <span className={styles.source}> · {source}</span>}
              </td>
              <td
                className={`${table.number} ${typeof value === 'number' ? styles.figure : styles.value}`}
                title={String(value)}
              >
                <bdi>{formatIndicator(value, before.get(name))}</bdi>
              </td>
              <td className={`${table.number} ${styles.change}`}>{formatChange(before.get(name), value)}</td>
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
  return distinguish([value, typeof before === 'number' ? before : undefined], formatNumber)(value);
}

/** Returns the change from `before` to `value`, such as `+6 (+50 %)` or `=`; empty without a value before. */
function formatChange(before: Value | undefined, value: Value): string {
  if (before === undefined) return '';
  if (before === value) return '=';
  if (typeof before !== 'number' || typeof value !== 'number') return `was ${String(before).slice(0, 80)}`;
  return formatDifference(before, value);
}

/** A dotted name that breaks after its dots and underscores first. */
function BreakableName({ name }: { name: string }) {
  return escapeInvisible(name)
    .split(/(?<=[._])/u)
    .map((part, index) => (
      <Fragment key={index}>
        {index > 0 && <wbr />}
        {part}
      </Fragment>
    ));
}
