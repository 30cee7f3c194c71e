import {
  formatBytes,
  formatDuration,
  formatNumber,
  formatPercent,
  formatSigned,
  formatValue,
} from '@switchyard/contract/presentation/format-quantity.ts';
import { measureTimes } from '@switchyard/contract/runs/presentation/list-phases.ts';
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import type { RunSeries } from '@switchyard/contract/runs/run-series.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Answer, type AnswerNumber, AnswerSentence } from '../../ui/answer.tsx';
import { PredictedStart } from '../../ui/resources/predicted-start.tsx';
import { WaitingFacts } from '../../ui/resources/waiting-facts.tsx';
import { type RunAddress, seriesQuery } from './queries.ts';
import { useBaseline } from './summary/baseline.ts';

const OBJECTIVE = 'result.value';
const ROUND_FROM = 1000;
const DIGITS = 4;

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
  return (
    <Answer
      numbers={[
        ...useObjective(run, chosenBaseline, series),
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
  chosen: string | undefined,
  series: readonly RunSeries[],
): AnswerNumber[] {
  const { baseline } = useBaseline(run, chosen);
  const isLive = !isTerminal(run.status_v2);
  const value = isLive ? findLast(series, 'objective') : readObjective(run);
  if (value === undefined) return [];
  const before = baseline && readObjective(baseline);
  return [
    {
      label: isLive ? 'Objective so far' : 'Objective',
      text: formatObjective(value),
      exact: formatNumber(value),
      note: baseline && before !== undefined && before !== 0 && (
        <>
          {formatChange((value - before) / Math.abs(before))} to{' '}
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

function listGap(series: readonly RunSeries[], run: RunInformation): AnswerNumber[] {
  const gap = findLast(series, 'gap');
  const bound = findLast(series, 'bound');
  if (gap === undefined) return [];
  return [
    {
      label: isTerminal(run.status_v2) ? 'Gap' : 'Gap so far',
      text: formatPercent(gap),
      note: bound !== undefined && `bound ${formatObjective(bound)}`,
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

function readObjective({ statistics }: RunInformation): number | undefined {
  const value = statistics.indicators.find(({ name }) => name === OBJECTIVE)?.value;
  return typeof value === 'number' ? value : undefined;
}

/** Returns the last value of a series of the log. */
function findLast(series: readonly RunSeries[], name: string): number | undefined {
  return series.find((one) => one.source === 'log' && one.name === name)?.points.at(-1)?.[1];
}

/** Returns a value with four digits, and a large one without decimals; its title has all digits. */
function formatObjective(value: number): string {
  return Math.abs(value) >= ROUND_FROM ? formatNumber(Math.round(value)) : formatValue(value, 0, DIGITS);
}

function formatChange(share: number): string {
  if (share === 0) return 'equal';
  return `${share > 0 ? '▲' : '▼'} ${formatSigned(share, formatPercent)}`;
}
