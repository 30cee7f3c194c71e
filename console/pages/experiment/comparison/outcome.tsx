import type { ComparedGroups, Comparison } from '@switchyard/contract/experiments/experiment-results.ts';
import {
  type MeasuredComparison,
  readEffect,
} from '@switchyard/contract/experiments/presentation/effects.ts';
import { formatHeadline } from '@switchyard/contract/experiments/presentation/headline.ts';
import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { VerdictBadge } from '../../../ui/experiments/verdict-badge.tsx';
import { Notice } from '../../../ui/notice.tsx';
import styles from './comparison-view.module.css';
import { RelatedInputs } from './related-inputs.tsx';

/** The fields of a comparison of any type of experiment that explain its verdict. */
type ExplainedComparison = MeasuredComparison &
  Pick<Comparison, 'indicator' | 'verdict' | 'interim' | 'reasons' | 'warnings'> &
  Partial<Pick<Comparison, 'more_inputs_range' | 'related_inputs' | 'inputs'>>;

interface OutcomeProps {
  comparison: ExplainedComparison;
  names: { control: string; candidate: string };
  racing?: NonNullable<ComparedGroups['racing']>;
  /** One pair in words. */
  unit?: 'input' | 'original';
}

/** The verdict as one sentence, its reasons, and its warnings. */
export function Outcome({ comparison, names, racing, unit = 'input' }: OutcomeProps) {
  const { indicator, verdict, reasons, warnings, interim } = comparison;
  const range = comparison.more_inputs_range;
  return (
    <section className={styles.outcome} aria-label="Verdict">
      <p>
        <VerdictBadge verdict={verdict} />
        {interim && <span className={styles.interim}>Interim</span>}
      </p>
      <h2 className={styles.headline}>
        {formatHeadline({ ...names, indicator, verdict, effect: readEffect(comparison) })}
      </h2>
      <ul className={styles.reasons}>
        {reasons.map((reason) => (
          <li key={reason}>{escapeInvisible(reason)}</li>
        ))}
        {range && (
          <li>
            About {formatNumber(range.low)} to{' '}
            {range.high === null ? 'more than 100,000' : formatNumber(range.high)} more inputs decide it.
          </li>
        )}
        {racing?.dropped_after_inputs != null && (
          <li>The race dropped it after {racing.dropped_after_inputs} inputs.</li>
        )}
      </ul>
      <RelatedInputs comparison={comparison} unit={unit} />
      {warnings.length > 0 && (
        <Notice kind="warning">
          <Paragraphs texts={warnings} />
        </Notice>
      )}
    </section>
  );
}

/** Paragraphs of the API, each in its own paragraph. */
export function Paragraphs({ texts }: { texts: readonly string[] }) {
  return texts.map((text) => <p key={text}>{escapeInvisible(text)}</p>);
}
