import type { AcceptanceMetric, MetricResult } from '@switchyard/contract/experiments/acceptance-results.ts';
import type { AcceptanceTest } from '@switchyard/contract/experiments/acceptance-tests.ts';
import { formatRule } from '@switchyard/contract/experiments/presentation/format-rule.ts';
import { type RuleRating, rateRule } from '@switchyard/contract/experiments/presentation/rate-rule.ts';
import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { buildScale, findExtent } from '@switchyard/contract/presentation/scales.ts';
import { useRef } from 'react';
import { useWidth } from '../../../ui/charts/use-width.ts';
import { VerdictBadge } from '../../../ui/experiments/verdict-badge.tsx';
import figure from '../../../ui/figures/figure.module.css';
import { Picture } from '../../../ui/figures/picture.tsx';
import { describeRequirement, type RuleContext } from '../verdict/describe-acceptance.ts';
import { type RuleAxis, readAxis, sortRules } from '../verdict/rule-axis.ts';
import styles from './rule-list.module.css';

const HEIGHT = 40;
/** Where the rail stands, above the number of the limit. */
const RAIL = 10;
const PADDING = 0.35;

/** The rules with their results: those that are not passed first, then those about which the data cannot say. */
export function RuleList({ test, nameIndicator }: RuleContext & { test: AcceptanceTest }) {
  const results = sortRules(test.results?.metric_results ?? []);
  const context = { test, nameIndicator };
  return (
    <section aria-labelledby="rules">
      <div className={styles.head}>
        <h2 id="rules">Rules</h2>
        <span className="meta">the tinted side is allowed</span>
      </div>
      <ul className={styles.rules}>
        {results.length > 0
          ? results.map((result, index) => <Rule key={index} result={result} context={context} />)
          : test.metrics.map((metric) => (
              <li key={formatRule(metric)} className={styles.rule}>
                <VerdictBadge verdict="no result yet" />
                <Requirement metric={metric} context={context} />
              </li>
            ))}
      </ul>
    </section>
  );
}

/** What the rule requires: the sentence, then the formula. */
function Requirement({ metric, context }: { metric: AcceptanceMetric; context: RuleContext }) {
  return (
    <div>
      <b>
        <bdi>{escapeInvisible(describeRequirement(metric, context))}</bdi>
      </b>
      <p className="meta">
        <bdi>{formatRule(metric)}</bdi>
      </p>
    </div>
  );
}

function Rule({ result, context }: { result: MetricResult; context: RuleContext }) {
  const { metric, reason, warnings } = result;
  const axis = readAxis(result);
  const rating = rateRule(result);
  const label = context.nameIndicator(metric.field);
  return (
    <li className={styles.rule}>
      <VerdictBadge verdict={rating} />
      <Requirement metric={metric} context={context} />
      <div className={styles.value}>
        {axis ? (
          <>
            <strong>{axis.format(axis.value)}</strong>
            <p className="meta">
              {axis.bound === axis.value
                ? `limit ${axis.format(axis.limit)}`
                : `bound ${axis.format(axis.bound)}`}
            </p>
          </>
        ) : (
          <strong>–</strong>
        )}
      </div>
      {axis && <RulePicture axis={axis} label={`${label}: ${rating}`} rating={rating} />}
      <p className={styles.reason}>
        <bdi>
          {escapeInvisible([rating === 'passed' ? '' : reason, ...warnings].filter(Boolean).join(' '))}
        </bdi>
      </p>
    </li>
  );
}

/** The allowed side of the limit, and where the candidate is. */
function RulePicture({ axis, label, rating }: { axis: RuleAxis; label: string; rating: RuleRating }) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const { value, bound, limit, allowed, format } = axis;
  const [low, high] = findExtent([value, bound, limit]);
  const room = (high - low || Math.abs(limit) || 1) * PADDING;
  const scale = buildScale([low - room, high + room], [0, width]);
  const place = Math.min(Math.max(scale(limit), 28), width - 28);
  return (
    <div ref={frame} className={styles.picture}>
      {width > 0 && (
        <Picture width={width} height={HEIGHT} label={`${label}, ${format(value)}, limit ${format(limit)}`}>
          {allowed && (
            <rect
              className={styles.allowed}
              x={allowed === 'below' ? 0 : scale(limit)}
              y={RAIL - 8}
              width={allowed === 'below' ? scale(limit) : width - scale(limit)}
              height="16"
            />
          )}
          <path className={styles.rail} d={`M0 ${RAIL}H${width}`} />
          <g className={rating === 'not passed' ? styles.broken : styles.candidate}>
            <path className={styles.bar} d={`M${scale(value)} ${RAIL}H${scale(bound)}`} />
            <circle className={styles.ring} cx={scale(value)} cy={RAIL} r="4.5" />
          </g>
          <path className={styles.limit} d={`M${scale(limit)} ${RAIL - 8}v16`} />
          <text className={`${figure.note} ${figure.middle}`} x={place} y={HEIGHT - 4}>
            {format(limit)}
          </text>
        </Picture>
      )}
    </div>
  );
}
