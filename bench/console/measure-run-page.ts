/** Time of the run page from its navigation until it can be used, and that of an empty page. */
import { formatRunPath } from './console-app.ts';
import { type Bench, visit, waitForIdle } from './visits.ts';

/** Returns the ms until the tabs of the run are there and the page has nothing more to do. */
export function measureRunPage(bench: Bench, run: string, slowdown: number): Promise<number> {
  return visit(
    bench,
    async (page) => {
      await page.goto(`${bench.server.url}/console${formatRunPath(run)}`);
      await page.getByRole('tab', { name: 'Log' }).waitFor();
      await page.getByText('Succeeded').first().waitFor();
      return waitForIdle(page);
    },
    { slowdown },
  );
}

/** Returns the ms until an empty page of the server is idle. */
export function measureEmptyPage(bench: Bench, slowdown: number): Promise<number> {
  return visit(
    bench,
    async (page) => {
      await page.goto(`${bench.server.url}/console/frame.html`);
      return waitForIdle(page);
    },
    { slowdown },
  );
}
