import {
  type Change,
  describeChange,
  type Measure,
} from '@switchyard/contract/presentation/format-change.ts';
import type { Run } from '@switchyard/contract/runs/run-schemas.ts';
import { Link } from '@tanstack/react-router';
import styles from './change-text.module.css';

const CLASSES = { better: 'good', worse: 'bad' } as const;

/** A change such as `▼ −2.9 %`: coloured and named where it is known if less is better. `title` has all digits. */
export function ChangeText({ change: { text, outcome }, title }: { change: Change; title?: string }) {
  return (
    <span className={`${styles.change} ${outcome ? CLASSES[outcome] : ''}`} title={title}>
      {text}
      {outcome && <span className="visually-hidden"> {outcome}</span>}
    </span>
  );
}

interface BaselineChangeProps {
  run: Pick<Run, 'id' | 'application_id'>;
  baseline: Pick<Run, 'id' | 'name'>;
  measure: Measure;
  /** The values of both runs. */
  sides: readonly [before: number, value: number];
}

/** The change of a value to that of the baseline, with a link to the comparison of both runs. */
export function BaselineChange({ run, baseline, measure, sides: [before, value] }: BaselineChangeProps) {
  return (
    <>
      {before === value ? 'equal' : <ChangeText change={describeChange(before, value, measure)} />} to{' '}
      <Link
        to="/apps/$application/compare"
        params={{ application: run.application_id }}
        search={{ runs: `${baseline.id},${run.id}` }}
        title={baseline.name || baseline.id}
      >
        baseline
      </Link>
    </>
  );
}
