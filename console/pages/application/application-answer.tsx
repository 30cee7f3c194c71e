import { findMedian } from '@switchyard/contract/presentation/estimate-time.ts';
import { formatCount } from '@switchyard/contract/presentation/format-count.ts';
import {
  formatDuration,
  formatNumber,
  formatPercent,
} from '@switchyard/contract/presentation/format-quantity.ts';
import type { Run } from '@switchyard/contract/runs/run-schemas.ts';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type Meaning, useMeaning } from '../../client/indicator-meaning.ts';
import { formatJudged, readIndicator } from '../../client/judged-values.ts';
import { operationQuery } from '../../client/queries.ts';
import { countFailures } from '../../client/recent-runs.ts';
import { Answer, type AnswerNumber } from '../../ui/answer.tsx';
import { BaselineChange } from '../../ui/resources/change-text.tsx';
import { activeRunsQuery, recentRunsQuery } from './queries.ts';

/** How good the last production run was, how many succeed, how long they take, and what runs now. */
export function ApplicationAnswer({ application }: { application: string }) {
  const { data } = useSuspenseQuery(recentRunsQuery(application));
  const meaning = useMeaning(application);
  const baseline = useBaseline(application, meaning, data.runs);
  const now = useActiveRuns(application);
  if (data.runs.length === 0) return null;
  return (
    <Answer
      numbers={[
        ...listLastValue(data.runs, meaning, baseline),
        ...listSuccesses(data.runs),
        ...listRunTime(data.runs),
        ...now,
      ]}
    />
  );
}

type JudgedRun = Pick<Run, 'id' | 'name' | 'statistics'>;

/** Returns the run that the application names as its baseline; undefined for none, and for a deleted one. */
function useBaseline(
  application: string,
  { baseline }: Meaning,
  runs: readonly Run[],
): JudgedRun | undefined {
  const listed = runs.find(({ id }) => id === baseline);
  const { data } = useQuery({
    ...operationQuery('getRunMetadata', {
      params: { application_id: application, run_id: baseline ?? '' },
    }),
    enabled: baseline !== null && !listed,
  });
  return listed ?? (baseline === null ? undefined : data);
}

function listLastValue(
  runs: readonly Run[],
  { objective }: Meaning,
  baseline: JudgedRun | undefined,
): AnswerNumber[] {
  const last = runs.find((run) => readIndicator(run, objective.name) !== undefined);
  const value = last && readIndicator(last, objective.name);
  if (!last || value === undefined) return [];
  const before = baseline && baseline.id !== last.id ? readIndicator(baseline, objective.name) : undefined;
  return [
    {
      label: `${objective.label}, last production run`,
      text: formatJudged(value, objective.unit),
      exact: formatNumber(value),
      note:
        baseline && before !== undefined ? (
          <BaselineChange run={last} baseline={baseline} measure={objective} sides={[before, value]} />
        ) : (
          <>
            on <bdi>{last.application_instance_id || 'an ensemble'}</bdi>
          </>
        ),
    },
  ];
}

function listSuccesses(runs: readonly Run[]): AnswerNumber[] {
  const { failed, counted } = countFailures(runs);
  if (counted === 0) return [];
  return [
    {
      label: 'Succeeded',
      text: formatPercent((counted - failed) / counted),
      note: `${counted - failed} of the last ${formatCount(counted, 'production run')}`,
    },
  ];
}

function listRunTime(runs: readonly Run[]): AnswerNumber[] {
  const times = runs.flatMap(({ status_v2, execution_duration: ms }) =>
    status_v2 === 'succeeded' && ms ? ms : [],
  );
  const median = findMedian(times);
  if (median === undefined) return [];
  const note = `median of ${formatCount(times.length, 'successful run')}`;
  return [{ label: 'Usual run time', text: formatDuration(median), note }];
}

function useActiveRuns(application: string): AnswerNumber[] {
  const { data } = useQuery(activeRunsQuery(application));
  const { running, queued } = data?.statuses ?? { running: 0, queued: 0 };
  const more = data?.is_complete === false ? '+' : '';
  return [
    {
      label: 'Now',
      text: data ? `${formatNumber(running)} running` : '–',
      note: (
        <>
          <Link to="/queue">{data ? `${formatNumber(queued)}${more} wait` : 'Queue'}</Link>
        </>
      ),
    },
  ];
}
