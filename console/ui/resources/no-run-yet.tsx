import { useQuery } from '@tanstack/react-query';
import { operationQuery } from '../../client/queries.ts';
import { EmptyState } from '../empty-state.tsx';
import { formatCurl } from '../forms/curl.ts';

/** The next step of an application without runs: push an app, then start the first run. */
export function NoRunYet({ application }: { application: string }) {
  const params = { application_id: application };
  const { data } = useQuery(operationQuery('getApplication', { params }));
  if (data?.active_executable === null)
    return (
      <EmptyState title="No app pushed yet" command={`npm run push -- path/to/app ${application}`}>
        <p>Push the folder of an app on the page of the application, or from a terminal. Then start a run.</p>
      </EmptyState>
    );
  return (
    <EmptyState title="No run yet" command={formatCurl('createRun', { params, body: { input: {} } })}>
      <p>A run executes the app on one input. Start the first one.</p>
    </EmptyState>
  );
}
