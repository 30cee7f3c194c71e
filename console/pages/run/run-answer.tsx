import {
  formatBytes,
  formatDuration,
  formatNumber,
  formatPercent,
} from '@switchyard/contract/presentation/format-quantity.ts';
import { measureTimes } from '@switchyard/contract/runs/presentation/list-phases.ts';
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import type { RunSeries } from '@switchyard/contract/runs/run-series.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type Meaning, useMeaning } from '../../client/indicator-meaning.ts';
import { formatChange, formatJudged, rateChange, readIndicator } from '../../client/judged-values.ts';
import { Answer, type AnswerNumber, AnswerSentence } from '../../ui/answer.tsx';
import { PredictedStart } from '../../ui/resources/predicted-start.tsx';
import { WaitingFacts } from '../../ui/resources/waiting-facts.tsx';
import { type RunAddress, seriesQuery } from './queries.ts';
import { useBaseline } from './summary/baseline.ts';

const VIOLATIONS_SHOWN = 2;

interface AnswerProps {
  address: RunAddress;
  run: RunInformation;
  /** Id of the chosen baseline; undefined for the default. */
  chosenBaseline: string | undefined;
}

/** What the run found and what it took. One that failed or waits says why. */
export function RunAnswer(props: AnswerProps) {
  const { address, run } = props;
  const { waiting } = run.metadata;
  if (run.status_v2 === 'failed' || run.status_v2 === 'canceled') return <EndReason {...{ address, run }} />;
  if (run.status_v2 === 'queued')
    return (
      <AnswerSentence
        icon="waiting"
        title={waiting ? `It waits at position ${waiting.place}.` : 'It waits for its start.'}
      >
        {waiting && <p>{waiting.message}</p>}
        {waiting?.predicted_start && (
          <p>
            Predicted start: <PredictedStart range={waiting.predicted_start} />
          </p>
        )}
        {waiting && <WaitingFacts waiting={waiting} />}
      </AnswerSentence>
    );
  return <RunNumbers {...props} />;
}

function EndReason({ address, run }: Omit<AnswerProps, 'chosenBaseline'>) {
  const isFailed = run.status_v2 === 'failed';
  return (
    <AnswerSentence
      icon={isFailed ? 'bad' : 'stopped'}
      tone={isFailed ? 'bad' : 'soft'}
      title={run.error || (isFailed ? 'The run failed.' : 'The run was canceled.')}
    >
      <Link to="/apps/$application/runs/$run" params={address} search={{ tab: 'log' }}>
        Open the log
      </Link>
    </AnswerSentence>
  );
}

function RunNumbers({ address, run, chosenBaseline }: AnswerProps) {
  const { data } = useQuery(seriesQuery(address));
  const series = data?.series ?? [];
  const meaning = useMeaning(address.application);
  return (
    <Answer
      numbers={[
        ...useObjective(run, { chosen: chosenBaseline, series, meaning }),
        ...listViolations(run, meaning),
        ...listGap(series, run),
        ...listRunTime(run),
        ...listMemory(run),
      ]}
    />
  );
}

/** Returns the objective with its change to the baseline; the last one of the log while the run has not ended. */
function useObjective(
  run: RunInformation,
  {
    chosen,
    series,
    meaning: { objective },
  }: { chosen: string | undefined; series: readonly RunSeries[]; meaning: Meaning },
): AnswerNumber[] {
  const { baseline } = useBaseline(run, chosen);
  const isLive = !isTerminal(run.status_v2);
  const value = isLive ? findLast(series, 'objective') : readIndicator(run, objective.name);
  if (value === undefined) return [];
  const before = baseline && readIndicator(baseline, objective.name);
  return [
    {
      label: isLive ? `${objective.label} so far` : objective.label,
      text: formatJudged(value, objective.unit),
      exact: formatNumber(value),
      note: baseline && before !== undefined && before !== 0 && (
        <>
          <span className={rateChange(objective, value - before)}>
            {formatChange((value - before) / Math.abs(before))}
          </span>{' '}
          to{' '}
          <Link
            to="/apps/$application/compare"
            params={{ application: run.application_id }}
            search={{ runs: `${baseline.id},${run.id}` }}
            title={baseline.name || baseline.id}
          >
            baseline
          </Link>
        </>
      ),
    },
  ];
}

/** Returns the first two counts of broken rules: there is space for two. */
function listViolations(run: RunInformation, { violations }: Meaning): AnswerNumber[] {
  return violations.slice(0, VIOLATIONS_SHOWN).flatMap(({ name, label, unit }) => {
    const value = readIndicator(run, name);
    if (value === undefined) return [];
    return [
      {
        label,
        text: formatJudged(value, unit),
        note: value > 0 && <span className="bad">must be 0</span>,
      },
    ];
  });
}

function listGap(series: readonly RunSeries[], run: RunInformation): AnswerNumber[] {
  const gap = findLast(series, 'gap');
  const bound = findLast(series, 'bound');
  if (gap === undefined) return [];
  return [
    {
      label: isTerminal(run.status_v2) ? 'Gap' : 'Gap so far',
      text: formatPercent(gap),
      note: bound !== undefined && `bound ${formatJudged(bound)}`,
    },
  ];
}

function listRunTime({ metadata, duration }: RunInformation): AnswerNumber[] {
  const { ran, waited } = measureTimes(metadata, Date.parse(metadata.created_at) + duration);
  if (ran === null) return [];
  const limit = metadata.limits && `of ${formatDuration(metadata.limits.duration_ms)}`;
  const notes = [limit, waited !== null && `waited ${formatDuration(waited)}`];
  return [{ label: 'Run time', text: formatDuration(ran), note: notes.filter(Boolean).join('; ') }];
}

function listMemory({ metadata: { peak_memory_bytes: peak, limits } }: RunInformation): AnswerNumber[] {
  if (peak === undefined) return [];
  return [
    {
      label: 'Peak memory',
      text: formatBytes(peak),
      note: limits && `of ${formatBytes(limits.memory_bytes)}`,
    },
  ];
}

/** Returns the last value of a series of the log. */
function findLast(series: readonly RunSeries[], name: string): number | undefined {
  return series.find((one) => one.source === 'log' && one.name === name)?.points.at(-1)?.[1];
}
