import { formatSize } from '@switchyard/contract/experiments/presentation/effects.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useMeaning } from '../../../client/indicator-meaning.ts';
import { Evidence } from '../evidence/evidence.tsx';
import { FailuresSection } from '../evidence/failures-section.tsx';
import { EndTest } from '../online/online-actions.tsx';
import { experimentQuery } from '../queries.ts';
import { ResultFrame } from '../result/result-frame.tsx';
import { describeExperiment } from '../verdict/describe-experiment.ts';
import { DIRECTIONS } from '../verdict/list-rule-facts.ts';
import { SearchPicture } from './search-picture.tsx';

/** The result of a bisect experiment: the version that made the indicator worse, and the search for it. */
export function BisectPage({ application, id }: { application: string; id: string }) {
  const { data } = useSuspenseQuery(experimentQuery({ type: 'bisect', application, id }));
  const { nameIndicator } = useMeaning(application);
  return (
    <ResultFrame
      type="bisect"
      application={application}
      experiment={{
        ...data,
        warnings: data.skipped_versions.map(({ version_id, reason }) => `${version_id}: ${reason}`),
      }}
      actions={
        <EndTest type="bisect" application={application} id={id} status={data.status} intent="search" />
      }
      verdict={describeExperiment({ type: 'bisect', application, id }, data)}
      empty=""
      rule={[
        ['Good version', data.good_version_id],
        ['Bad version', data.bad_version_id],
        ['Indicator', nameIndicator(data.indicator)],
        ['Direction', DIRECTIONS[data.direction]],
        ['Difference that matters', formatSize(data.difference.type, data.difference.value)],
      ]}
      picture={<SearchPicture search={data} label={nameIndicator(data.indicator)} />}
    >
      {data.failures.length > 0 && (
        <Evidence>
          <FailuresSection application={application} failures={data.failures} />
        </Evidence>
      )}
    </ResultFrame>
  );
}
