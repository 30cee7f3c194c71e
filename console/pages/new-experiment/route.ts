import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../client/queries.ts';
import { applicationRoute } from '../../layout/routes.tsx';
import { type ExperimentType, parseExperimentType } from '../../ui/experiments/experiment-types.ts';
import { choicesQuery } from './queries.ts';

interface NewExperimentSearch {
  /** Type of the experiment; the default is batch. */
  type?: ExperimentType;
}

export const newExperimentRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: '/new-experiment',
  validateSearch: (search: Record<string, unknown>): NewExperimentSearch => {
    const type = parseExperimentType(search.type);
    return type ? { type } : {};
  },
  loader: ({ params: { application } }) => queryClient.ensureQueryData(choicesQuery(application)),
  component: lazyRouteComponent(() => import('./new-experiment-page.tsx'), 'NewExperimentPage'),
});
