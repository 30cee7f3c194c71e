/** A long log: how fast it opens, scrolls and answers a search. */
import { formatRunPath } from './console-app.ts';
import { type Bench, measureLongestFrame, visit } from './visits.ts';

const SCROLL_STEPS = 40;
const STEP_PIXELS = 1500;
const MS_BETWEEN_STEPS = 16;

export interface LogTimes {
  /** Until the first lines are visible. */
  openMs: number;
  /** Until all lines have arrived; the page scrolls meanwhile. */
  wholeMs: number;
  longestFrameMs: number;
  searchMs: number;
}

/** Opens the log of the run, scrolls up from its end, and searches for its line `count`. */
export function measureLog(bench: Bench, run: string, count: number): Promise<LogTimes> {
  return visit(bench, async (page) => {
    await page.goto(`${bench.server.url}/console${formatRunPath(run)}?tab=log`);
    const log = page.getByRole('region', { name: 'Log' });
    await log.getByText('best cost').first().waitFor();
    const openMs = await page.evaluate(() => performance.now());
    await log.hover();
    const longestFrameMs = await measureLongestFrame(page, async () => {
      for (let step = 0; step < SCROLL_STEPS; step += 1) {
        await page.mouse.wheel(0, step < SCROLL_STEPS / 2 ? STEP_PIXELS : -STEP_PIXELS);
        await page.waitForTimeout(MS_BETWEEN_STEPS);
      }
    });
    await page.getByText(`${new Intl.NumberFormat('en-GB').format(count)} lines`, { exact: true }).waitFor();
    const wholeMs = await page.evaluate(() => performance.now());
    const started = Date.now();
    await page.getByLabel('Search the log').fill(`iteration ${count}:`);
    await page.getByText('1 of 1', { exact: true }).waitFor();
    return { openMs, wholeMs, longestFrameMs, searchMs: Date.now() - started };
  });
}
