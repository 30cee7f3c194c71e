import type { ExperimentRun } from '@switchyard/contract/experiments/experiment-runs.ts';
import { createOriginalReader } from '@switchyard/contract/experiments/presentation/pair-runs.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { formatCurl } from '../../../ui/forms/curl.ts';
import { FailuresSection } from '../evidence/failures-section.tsx';
import { RunsSection } from '../evidence/runs-section.tsx';
import { experimentQuery, experimentRunsQuery } from '../queries.ts';
import { PairedResult } from '../result/paired-result.tsx';
import { useExperimentSearch } from '../use-experiment-search.ts';
import { EndTest, OnlineActions } from './online-actions.tsx';

/** Returns how many of the runs are originals, and how many are their copies. */
function describeCopies(test: string, runs: readonly Pick<ExperimentRun, 'experiment_id'>[]): string {
  const copies = runs.filter(({ experiment_id }) => experiment_id === test).length;
  return `${formatNumber(runs.length - copies)} originals and ${formatNumber(copies)} copies`;
}

interface NothingCopiedProps {
  application: string;
  id: string;
  status: string;
  baseline: string;
}

/** What makes the first copy. */
function NothingCopied({ application, id, status, baseline }: NothingCopiedProps) {
  const params = { application_id: application };
  if (status === 'draft')
    return (
      <EmptyState
        title="Nothing is copied before the start"
        command={formatCurl('startShadowTest', { params: { ...params, shadow_id: id } })}
      />
    );
  const request = { params, query: { instance_id: baseline }, body: { input: {} } };
  return (
    <EmptyState title="No run copied yet" command={formatCurl('createRun', request)}>
      <p>
        The test copies the next run of <bdi>{baseline}</bdi>, no matter who creates it. Its caller gets the
        same response as without the test.
      </p>
    </EmptyState>
  );
}

/** The result of a shadow test: each candidate against the baseline, by original. */
export function ShadowPage({ application, id }: { application: string; id: string }) {
  const { data } = useSuspenseQuery(experimentQuery({ type: 'shadow', application, id }));
  const found = useQuery({
    ...experimentRunsQuery({ type: 'shadow', application, id }),
    enabled: data.number_of_runs > 0,
  });
  const searchState = useExperimentSearch();
  const runs = found.data?.runs ?? [];
  const { baseline_instance_id: baseline } = data.comparison;
  const candidates = data.comparisons.flatMap((one) => one.candidate_instance_ids).join(', ');
  const most = formatNumber(data.termination_events.maximum_runs);
  const test = { type: 'shadow', application, id, status: data.status } as const;
  return (
    <PairedResult
      {...{ application, runs, ...searchState }}
      type="shadow"
      experiment={data}
      actions={<OnlineActions {...test} />}
      menu={<EndTest {...test} intent="cancel" />}
      empty={
        data.status === 'draft'
          ? `Not started. It copies runs of ${baseline} to ${candidates}, at most ${most}.`
          : `${formatNumber(data.number_of_runs)} of at most ${most} runs of ${baseline} are copied to ${candidates}. The comparison appears when an original and its copy have ended.`
      }
      picture={
        data.number_of_runs === 0 &&
        data.status !== 'completed' && <NothingCopied {...test} baseline={baseline} />
      }
      compared={data.compared}
      objectives={data.objectives}
      readInput={createOriginalReader(id)}
      unit="original"
      folds={
        <>
          <FailuresSection
            application={application}
            title="Refused copies"
            failures={data.refused_runs.map(({ input_id, error }) => ({
              ...{ instance_id: input_id, version_id: '', error, run_id: null, number_of_runs: 1 },
            }))}
          />
          <RunsSection
            application={application}
            runs={runs}
            total={runs.length}
            parts={describeCopies(id, runs)}
          />
        </>
      }
    />
  );
}
