import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { consoleRoute } from '../../layout/routes.tsx';

interface DeviceSearch {
  /** The code that the program shows. */
  user_code?: string;
}

export const deviceRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/device',
  validateSearch: (search): DeviceSearch =>
    typeof search.user_code === 'string' ? { user_code: search.user_code } : {},
  component: lazyRouteComponent(() => import('./device-page.tsx'), 'DevicePage'),
});
