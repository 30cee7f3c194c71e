/**
 * The small scripts of every page, in one file. The article is never hydrated. Each script finds its place by a data
 * attribute and does nothing on a page without it. A script that only few pages need is loaded on those pages.
 */
import { startCopyButtons } from './article/copy-buttons.ts';
import { startPermalinks } from './article/permalinks.ts';
import { startServerAddress } from './article/server-address.ts';
import { startTabs } from './article/tabs.ts';
import { startBanner } from './banner/banner.ts';
import { startDrawer, startScrollSpy, startSidebar, startTheme } from './frame.ts';
import { startLazySearch } from './search/lazy-search.ts';

startTheme();
startServerAddress();
startCopyButtons();
startPermalinks();
startDrawer();
startSidebar();
startTabs();
startLazySearch();
// The scripts below react to no input, so they run in a task of their own: one task took over 50 ms on a slow phone.
await new Promise((resolve) => setTimeout(resolve));
startScrollSpy();
void startBanner();

if (document.querySelector('.api')) {
  const [{ startOpenTarget }, { startApiReference }] = await Promise.all([
    import('./pages/open-target.ts'),
    import('./pages/api-reference.ts'),
  ]);
  startApiReference();
  startOpenTarget();
}

const serviceStatus = document.querySelector('[data-service-status]');
if (serviceStatus) {
  const { startServiceStatus } = await import('./pages/service-status.ts');
  startServiceStatus(serviceStatus);
}

const signUp = document.querySelector('[data-sign-up]');
if (signUp) {
  const { startSignUp } = await import('./pages/sign-up.ts');
  startSignUp(signUp);
}
