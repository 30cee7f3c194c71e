/**
 * The small islands of every page, in one file. The article is never hydrated; each island finds its place by a data
 * attribute and leaves a page without it alone. What only few pages need is loaded when the page has it.
 */
import { startBanner } from './banner.ts';
import { startCopy } from './copy.ts';
import { startDrawer } from './drawer.ts';
import { startFollowHeadings } from './follow-headings.ts';
import { startPermalinks } from './permalinks.ts';
import { startSearchOpener } from './search-opener.ts';
import { startServerAddress } from './server-address.ts';
import { startSidebar } from './sidebar.ts';
import { startTabs } from './tabs.ts';
import { startTheme } from './theme.ts';

startTheme();
startServerAddress();
startCopy();
startPermalinks();
startDrawer();
startSidebar();
startTabs();
startSearchOpener();
// What answers no hand comes in a task of its own: all in one was longer than 50 ms on a slow phone.
await new Promise((resolve) => setTimeout(resolve));
startFollowHeadings();
void startBanner();

if (document.querySelector('.api')) {
  const [{ startOpenTarget }, { startReference }] = await Promise.all([
    import('./open-target.ts'),
    import('./reference.ts'),
  ]);
  startReference();
  startOpenTarget();
}

const serviceStatus = document.querySelector('[data-service-status]');
if (serviceStatus) {
  const { startServiceStatus } = await import('./service-status.ts');
  startServiceStatus(serviceStatus);
}

const signUp = document.querySelector('[data-sign-up]');
if (signUp) {
  const { startSignUp } = await import('./sign-up.ts');
  startSignUp(signUp);
}
