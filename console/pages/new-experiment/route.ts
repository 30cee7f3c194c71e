import {
  EXPERIMENT_TYPES,
  type ExperimentType,
  parseExperimentType,
} from '@switchyard/contract/experiment-types/experiment-types.ts';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../client/queries.ts';
import { applicationRoute } from '../../layout/routes.tsx';
import { choicesQuery } from './queries.ts';

interface NewExperimentSearch {
  /** Type of the experiment; the default is batch. */
  type?: ExperimentType;
  /** Id of an experiment of that type, whose settings fill the form. */
  from?: string;
}

export const newExperimentRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: '/new-experiment',
  validateSearch: (search: Record<string, unknown>): NewExperimentSearch => {
    const type = parseExperimentType(search.type);
    const from = typeof search.from === 'string' && search.from !== '' ? search.from : undefined;
    return { ...(type && { type }), ...(from !== undefined && { from }) };
  },
  loaderDeps: ({ search: { type = EXPERIMENT_TYPES[0], from } }) => ({ type, from }),
  loader: async ({ params: { application }, deps: { type, from } }) => {
    await Promise.all([
      queryClient.ensureQueryData(choicesQuery(application)),
      // Imported with the page: the script of the first page has no parts of others.
      from !== undefined &&
        import('./types/type-forms.ts').then(({ sourceQuery }) =>
          queryClient.ensureQueryData(sourceQuery({ application, type, id: from })),
        ),
    ]);
  },
  component: lazyRouteComponent(() => import('./new-experiment-page.tsx'), 'NewExperimentPage'),
});
