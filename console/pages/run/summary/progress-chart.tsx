import { formatDuration } from '@switchyard/contract/presentation/format-quantity.ts';
import { describeProgress, hasCurve } from '@switchyard/contract/runs/presentation/describe-progress.ts';
import { listMainSeries } from '@switchyard/contract/runs/presentation/describe-solve.ts';
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import type { SolverPhase } from '@switchyard/contract/runs/run-series.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import { useQuery } from '@tanstack/react-query';
import { useMeaning } from '../../../client/indicator-meaning.ts';
import type { ChartSeries } from '../../../ui/series/chart-series.ts';
import { SeriesChart } from '../../../ui/series/series-chart.tsx';
import { useBaseline, useUsualTime } from '../progress/baseline.ts';
import { findLimit } from '../progress/find-limit.ts';
import { findBound, findObjective, isOverSeconds, toChartSeries } from '../progress/objective-series.ts';
import { useElapsed } from '../progress/use-elapsed.ts';
import { useProgress } from '../progress/use-progress.ts';
import { seriesQuery } from '../queries.ts';
import { PointNumbers } from './point-numbers.tsx';
import styles from './run-charts.module.css';

const SECOND_MS = 1_000;
/** A log with many solves has many phases; the last ones say where the solver is. */
const PHASES_MAX = 8;
/** An active run has space for what may come, and stays in the middle of the picture at least. */
const AHEAD = 1.6;

interface ProgressProps {
  run: RunInformation;
  /** Id of the chosen baseline; undefined for the default. */
  chosenBaseline: string | undefined;
}

/** The objective over time beside its bound and the baseline, with a sentence about it. Nothing without an objective. */
export function ProgressChart({ run, chosenBaseline }: ProgressProps) {
  const { objective: meaning } = useMeaning(run.application_id);
  const { series, objective, points, bound, phases } = useProgress(run);
  const elapsed = useElapsed(run);
  const control = useControl(run, chosenBaseline);
  const limit = findLimit(run)?.ms;
  const usual = useUsualTime(run);
  if (!objective) return null;
  const isLive = !isTerminal(run.status_v2);
  const isTimed = isOverSeconds(objective);
  const until = isTimed && elapsed !== null ? elapsed / SECOND_MS : undefined;
  const comparable = control && isTimed === (control.series.isOverSeconds === true) ? control : undefined;
  const own = toChartSeries(objective);
  if (!hasCurve(objective.points)) return <PointNumbers title={meaning.label} series={own} />;
  const ahead = [usual, comparable && SECOND_MS * comparable.seconds, AHEAD * (elapsed ?? 0)].map(
    (time) => time ?? 0,
  );
  const text =
    until === undefined
      ? null
      : describeProgress({
          ...{ points, direction: meaning.direction, end: until, isLive, bound },
          baseline: comparable,
        });
  const proven = objective.source === 'log' ? findBound(series) : undefined;
  return (
    <div className={styles.wide}>
      <SeriesChart
        title={isLive ? `${meaning.label} so far` : meaning.label}
        unit={meaning.unit}
        series={listSeries({
          own,
          bound: proven && toChartSeries(proven),
          control: comparable?.series,
          isLive,
        })}
        until={until}
        end={isLive ? Math.min(limit ?? Number.POSITIVE_INFINITY, Math.max(...ahead)) / SECOND_MS : undefined}
        isLive={isLive}
      >
        {text && (
          <p className={styles.says}>
            {text.lead !== '' && <b>{text.lead}</b>} {text.rest}
          </p>
        )}
      </SeriesChart>
      {isLive && <PhaseList phases={phases} />}
    </div>
  );
}

/** Returns the curve of the baseline, with its last value and its time; undefined while there is none. */
function useControl(run: RunInformation, chosen: string | undefined) {
  const { baseline } = useBaseline(run, chosen);
  const { data } = useQuery({
    ...seriesQuery({ application: run.application_id, run: baseline?.id ?? '' }),
    enabled: baseline !== undefined && isTerminal(baseline.status_v2),
  });
  const objective = findObjective(listMainSeries(data?.series ?? []));
  const value = objective?.points.at(-1)?.[1];
  if (!baseline || !objective || value === undefined || !hasCurve(objective.points)) return undefined;
  return { value, seconds: baseline.execution_duration / SECOND_MS, series: toChartSeries(objective) };
}

interface ShownSeries {
  own: ChartSeries;
  bound: ChartSeries | undefined;
  control: ChartSeries | undefined;
  isLive: boolean;
}

function listSeries({ own, bound, control, isLive }: ShownSeries): ChartSeries[] {
  return [
    ...(control
      ? [
          {
            ...control,
            name: 'baseline',
            role: 'control' as const,
            label: (value: string) => (isLive ? `baseline ${value}` : 'baseline'),
          },
        ]
      : []),
    ...(bound
      ? [
          {
            ...bound,
            role: 'bound' as const,
            label: (value: string) => (isLive ? `bound ${value}` : 'bound'),
          },
        ]
      : []),
    {
      ...own,
      role: 'own',
      label: (value) => (isLive ? `${value} so far` : control || bound ? 'this run' : value),
    },
  ];
}

function PhaseList({ phases }: { phases: readonly SolverPhase[] }) {
  if (phases.length === 0) return null;
  return (
    <ol className={styles.phases} aria-label="Phases of the solver">
      {phases.slice(-PHASES_MAX).map(({ solver, phase, x }, index) => (
        <li key={index}>
          {solver}: {phase} <span className={styles.time}>from {formatDuration(x * SECOND_MS)}</span>
        </li>
      ))}
    </ol>
  );
}
