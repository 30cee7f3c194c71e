import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Evidence } from '../evidence/evidence.tsx';
import { FailuresSection } from '../evidence/failures-section.tsx';
import { EndTest } from '../online/online-actions.tsx';
import { experimentQuery } from '../queries.ts';
import { ResultFrame } from '../result/result-frame.tsx';
import { SearchPicture } from './search-picture.tsx';

const KINDS = { found: 'better', 'not distinguishable': 'equivalent', failed: 'worse' } as const;

/** The result of a bisect experiment: the version that made the indicator worse, and the search for it. */
export function BisectPage({ application, id }: { application: string; id: string }) {
  const { data } = useSuspenseQuery(experimentQuery({ type: 'bisect', application, id }));
  const word = data.verdict.replaceAll('_', ' ');
  const claim = data.verdict === 'running' ? 'So far:' : `${word.charAt(0).toUpperCase()}${word.slice(1)}.`;
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
      verdict={{
        kind: Object.entries(KINDS).find(([verdict]) => verdict === word)?.[1] ?? 'open',
        claim,
        rest: data.reason || 'no version is tested.',
        follows:
          data.runs_needed === null
            ? []
            : [`The search needs about ${formatNumber(data.runs_needed)} more runs.`],
      }}
      empty=""
      picture={<SearchPicture search={data} />}
    >
      {data.failures.length > 0 && (
        <Evidence>
          <FailuresSection application={application} failures={data.failures} />
        </Evidence>
      )}
    </ResultFrame>
  );
}
