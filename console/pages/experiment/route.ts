import { hasField, parseExperimentType } from '@switchyard/contract/experiment-types/experiment-types.ts';
import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { applicationQuery, instancesQuery } from '../../client/applications.ts';
import { queryClient } from '../../client/queries.ts';
import { applicationRoute } from '../../layout/routes.tsx';
import { experimentQuery, experimentRunsQuery } from './queries.ts';
import { parseSearch } from './search.ts';

export const experimentRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: '/experiments/$type/$id',
  validateSearch: parseSearch,
  loader: ({ params: { application, type, id } }) => loadExperiment(application, type, id),
  component: lazyRouteComponent(() => import('./experiment-page.tsx'), 'ExperimentPage'),
});

/** Loads the experiment before its page is shown. It loads nothing for an unknown type. */
async function loadExperiment(application: string, named: string, id: string): Promise<void> {
  const type = parseExperimentType(named);
  if (type === undefined) return;
  // What the decision changes stands on the page from the start, so that nothing moves.
  const [found] = await Promise.all([
    queryClient.ensureQueryData(experimentQuery({ type, application, id })),
    queryClient.ensureQueryData(applicationQuery(application)),
    queryClient.ensureQueryData(instancesQuery(application)),
  ]);
  // The sentence counts the pairs of runs, which only these types load by themselves.
  if (hasField(type, 'copies'))
    await queryClient.ensureQueryData(experimentRunsQuery({ type, application, id }));
  // Two types have one operation, so an address with the other type would show the experiment under its name.
  if ('type' in found && found.type !== type)
    throw redirect({
      to: '/apps/$application/experiments/$type/$id',
      params: { application, type: found.type, id },
      search: true,
      replace: true,
    });
}
