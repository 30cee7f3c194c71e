import { parseExperimentType } from '@switchyard/contract/experiments/presentation/experiment-types.ts';
import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { queryClient } from '../../client/queries.ts';
import { applicationRoute } from '../../layout/routes.tsx';
import { acceptanceQuery, batchQuery, bisectQuery, shadowQuery, switchbackQuery } from './queries.ts';
import { parseSearch } from './search.ts';

export const experimentRoute = createRoute({
  getParentRoute: () => applicationRoute,
  path: '/experiments/$type/$id',
  validateSearch: parseSearch,
  loader: ({ params: { application, type, id } }) => loadExperiment(application, type, id),
  component: lazyRouteComponent(() => import('./experiment-page.tsx'), 'ExperimentPage'),
});

/** Loads the experiment before its page is shown. It loads nothing for an unknown type. */
async function loadExperiment(application: string, type: string, id: string): Promise<void> {
  switch (parseExperimentType(type)) {
    case 'batch':
    case 'scenario': {
      const found = await queryClient.ensureQueryData(batchQuery(application, id));
      // Both types have one operation, so an address with the other type would show the experiment under its name.
      if (found.type !== type)
        throw redirect({
          to: '/apps/$application/experiments/$type/$id',
          params: { application, type: found.type, id },
          search: true,
          replace: true,
        });
      return;
    }
    case 'acceptance':
      await queryClient.ensureQueryData(acceptanceQuery(application, id));
      return;
    case 'shadow':
      await queryClient.ensureQueryData(shadowQuery(application, id));
      return;
    case 'switchback':
      await queryClient.ensureQueryData(switchbackQuery(application, id));
      return;
    case 'bisect':
      await queryClient.ensureQueryData(bisectQuery(application, id));
  }
}
