/** The numbers that answer: what the run found, and what it took. */
import { describeChange } from '@switchyard/contract/presentation/format-change.ts';
import {
  formatDuration,
  formatNumber,
  formatObjective,
  formatPercent,
} from '@switchyard/contract/presentation/format-quantity.ts';
import { measureTimes } from '@switchyard/contract/runs/presentation/list-phases.ts';
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import type { RunSeries } from '@switchyard/contract/runs/run-series.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import { Link } from '@tanstack/react-router';
import { type JudgedIndicator, useMeaning } from '../../../client/indicator-meaning.ts';
import { formatJudged, readIndicator } from '../../../client/judged-values.ts';
import type { AnswerNumber } from '../../../ui/answer.tsx';
import { BaselineChange } from '../../../ui/resources/change-text.tsx';
import { useBaseline } from '../progress/baseline.ts';
import { findLimit } from '../progress/find-limit.ts';
import { useElapsed } from '../progress/use-elapsed.ts';
import { useProgress } from '../progress/use-progress.ts';
import { useWarnings } from './use-warnings.ts';

const NUMBERS_MAX = 5;
const SECOND_MS = 1_000;

/** Returns up to five numbers, each of an active run "so far". */
export function useRunNumbers(run: RunInformation, chosenBaseline: string | undefined): AnswerNumber[] {
  const { objective, violations } = useMeaning(run.application_id);
  const { baseline } = useBaseline(run, chosenBaseline);
  const progress = useProgress(run);
  const elapsed = useElapsed(run);
  const warnings = useWarnings(run);
  const isLive = !isTerminal(run.status_v2);
  const read = (name: string) => (isLive ? findLast(progress.series, name) : readIndicator(run, name));
  const found = isLive ? progress.objective?.points.at(-1)?.[1] : readIndicator(run, objective.name);
  const numbers = [
    ...listObjective(run, { objective, value: found, baseline, isLive }),
    ...listGap(progress.series, isLive),
    ...listRunTime(run, elapsed),
    ...violations.flatMap((violation) => listViolation(violation, read(violation.name), isLive)),
    ...listWarnings(run, warnings),
    ...(isLive ? listImprovement(progress.improved, elapsed) : []),
  ];
  return numbers.slice(0, NUMBERS_MAX);
}

interface FoundObjective {
  objective: JudgedIndicator;
  value: number | undefined;
  baseline: RunInformation | undefined;
  isLive: boolean;
}

function listObjective(
  run: RunInformation,
  { objective, value, baseline, isLive }: FoundObjective,
): AnswerNumber[] {
  if (value === undefined) return [];
  const before = baseline && readIndicator(baseline, objective.name);
  const better = { minimize: ', less is better', maximize: ', more is better' };
  return [
    {
      label: `${objective.label}${isLive ? ' so far' : ''}${objective.direction ? better[objective.direction] : ''}`,
      text: formatJudged(value, objective.unit),
      exact: formatNumber(value),
      note: baseline && before !== undefined && (
        <BaselineChange run={run} baseline={baseline} measure={objective} sides={[before, value]} />
      ),
    },
  ];
}

function listGap(series: readonly RunSeries[], isLive: boolean): AnswerNumber[] {
  const gap = findLast(series, 'gap');
  const bound = findLast(series, 'bound');
  const end = isLive ? ' so far' : '';
  if (gap !== undefined)
    return [
      {
        label: `Gap${end}`,
        text: formatPercent(gap),
        note: bound !== undefined && `bound ${formatObjective(bound)}`,
      },
    ];
  return bound === undefined ? [] : [{ label: `Bound${end}`, text: formatObjective(bound) }];
}

/** Returns how long ago an active run improved, and by how much. */
function listImprovement(
  improved: readonly (readonly [seconds: number, value: number])[],
  elapsed: number | null,
): AnswerNumber[] {
  const [before, last] = improved.slice(-2);
  if (!before || !last || elapsed === null) return [];
  const ago = SECOND_MS * Math.max(0, Math.floor(elapsed / SECOND_MS - last[0]));
  const { signed } = describeChange(before[1], last[1]);
  return [
    {
      label: 'Last improvement',
      text: ago === 0 ? 'now' : formatDuration(ago),
      note: `${ago === 0 ? '' : 'ago, '}${signed} at ${formatDuration(SECOND_MS * Math.floor(last[0]))}`,
    },
  ];
}

/** An ended run that took less than this share of its limit was not bounded by it. */
const NEAR_LIMIT = 0.5;

function listRunTime(run: RunInformation, elapsed: number | null): AnswerNumber[] {
  const { metadata, duration, status_v2 } = run;
  const { ran, waited } = measureTimes(metadata, Date.parse(metadata.created_at) + duration);
  if (ran === null) return [];
  const isLive = !isTerminal(status_v2);
  const limit = findLimit(run);
  const isBounded = limit !== undefined && (isLive || ran > NEAR_LIMIT * limit.ms);
  const notes = [isBounded && limit.text, waited !== null && `waited ${formatDuration(waited)}`];
  const time = isLive ? SECOND_MS * Math.floor((elapsed ?? ran) / SECOND_MS) : ran;
  return [
    {
      label: isLive ? 'Run time so far' : 'Run time',
      text: formatDuration(time),
      note: notes.filter(Boolean).join('; '),
    },
  ];
}

function listViolation(
  { label, unit }: JudgedIndicator,
  value: number | undefined,
  isLive: boolean,
): AnswerNumber[] {
  if (value === undefined) return [];
  return [
    {
      label: isLive ? `${label} so far` : label,
      text: formatJudged(value, unit),
      note: value > 0 && <span className="bad">must be 0</span>,
    },
  ];
}

function listWarnings(
  { application_id: application, id, metadata }: RunInformation,
  { count, hasMore, first }: ReturnType<typeof useWarnings>,
): AnswerNumber[] {
  if (count === 0) return [];
  const start = Date.parse(metadata.initiated_at ?? '');
  const at =
    first === undefined || Number.isNaN(start)
      ? ''
      : ` at ${formatDuration(SECOND_MS * Math.max(0, Math.floor((first - start) / SECOND_MS)))}`;
  return [
    {
      label: isTerminal(metadata.status_v2) ? 'Warnings in the log' : 'Warnings so far',
      text: `${formatNumber(count)}${hasMore ? '+' : ''}`,
      note: (
        <Link
          to="/apps/$application/runs/$run"
          params={{ application, run: id }}
          search={{ tab: 'log', level: 'warning' }}
        >
          first{at}
        </Link>
      ),
    },
  ];
}

/** Returns the last value of a series of the log. Its name may be the last part of that of an indicator. */
function findLast(series: readonly RunSeries[], name: string): number | undefined {
  const own = [name, name.split('.').at(-1)];
  return series.find((one) => one.source === 'log' && own.includes(one.name))?.points.at(-1)?.[1];
}
