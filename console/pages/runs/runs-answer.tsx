import {
  formatDuration,
  formatNumber,
  formatPercent,
} from '@switchyard/contract/presentation/format-quantity.ts';
import type { RunListCounts } from '@switchyard/contract/runs/run-counts.ts';
import type { RunStatusV2 } from '@switchyard/contract/states.ts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Answer, type AnswerNumber } from '../../ui/answer.tsx';
import { hasFilter, type RunFilters, splitValues } from './filters/runs-search.ts';
import { runCountsQuery } from './queries.ts';

/** How many runs match the filters and what became of them; nothing for an application without runs. */
export function RunsAnswer({ application, filters }: { application: string; filters: RunFilters }) {
  const { data } = useQuery({
    ...runCountsQuery(application, filters),
    placeholderData: keepPreviousData,
  });
  if (!data || (data.runs === 0 && !hasFilter(filters))) return null;
  return <Answer numbers={listNumbers(data, filters)} />;
}

/** Returns the numbers; a status that the filter excludes has none. */
function listNumbers(
  counts: RunListCounts,
  { status, experiments: hasExperiments }: RunFilters,
): AnswerNumber[] {
  const chosen = splitValues(status);
  const isListed = (one: RunStatusV2): boolean => chosen.length === 0 || chosen.includes(one);
  const { runs, is_complete: isComplete, statuses, median_execution_duration: medianMs } = counts;
  const ended = statuses.succeeded + statuses.failed;
  const scope = hasExperiments ? 'with those of experiments' : 'without those of experiments';
  const note = isComplete ? undefined : `of the newest ${formatNumber(runs)}`;
  return [
    {
      label: 'Runs',
      text: `${formatNumber(runs)}${isComplete ? '' : '+'}`,
      note: isComplete ? scope : `more than ${formatNumber(runs)}, ${scope}`,
    },
    isListed('failed') && {
      label: 'Failed',
      text: formatNumber(statuses.failed),
      note:
        ended > 0 && isListed('succeeded')
          ? `${formatPercent(statuses.failed / ended)} of ${formatNumber(ended)} that ended`
          : note,
    },
    isListed('running') && { label: 'Running', text: formatNumber(statuses.running), note },
    isListed('queued') && {
      label: 'Waiting',
      text: formatNumber(statuses.queued),
      note: statuses.queued > 0 ? <Link to="/queue">Queue</Link> : note,
    },
    medianMs !== null && {
      label: 'Usual run time',
      text: formatDuration(medianMs),
      note: `median of ${formatNumber(statuses.succeeded)} that succeeded`,
    },
  ].filter((one) => one !== false);
}
