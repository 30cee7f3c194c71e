/** A run that is watched while it writes: frames of its chart, and the delay of its log. */
import { cancelRun, formatRunPath, startRun } from './console-app.ts';
import { type Bench, measureLongestFrame, visit } from './visits.ts';

/** Returns the longest frame in ms while a chart of `points` points gets ten more a second, watched for `seconds`. */
export async function measureChart(bench: Bench, points: number, seconds: number): Promise<number> {
  const run = await startRun(bench.server, 'series', points);
  try {
    return await visit(bench, async (page) => {
      await page.goto(`${bench.server.url}/console${formatRunPath(run)}`);
      await page
        .getByRole('img', { name: /^Chart: / })
        .first()
        .waitFor();
      return measureLongestFrame(page, () => page.waitForTimeout(seconds * 1000));
    });
  } finally {
    await cancelRun(bench.server, run);
  }
}

/** Returns the ms from a line that the app writes to its pixels, for each of the lines. */
export async function measureDelay(bench: Bench, lines: number): Promise<number[]> {
  const run = await startRun(bench.server, 'clock', 1);
  try {
    return await visit(bench, async (page) => {
      await page.goto(`${bench.server.url}/console${formatRunPath(run)}?tab=log`);
      await page
        .getByText(/clock \d+/)
        .first()
        .waitFor();
      return page.evaluate(watchClock, lines);
    });
  } finally {
    await cancelRun(bench.server, run);
  }
}

/** Runs in the page: returns the ages of new lines `clock <ms>` in the frame that shows them. */
function watchClock(count: number): Promise<number[]> {
  const read = (): number[] =>
    [...(document.body.textContent ?? '').matchAll(/clock (\d{13})/g)].map(([, time]) => Number(time));
  return new Promise((resolve) => {
    let newest = Math.max(...read());
    const ages: number[] = [];
    const watch = () => {
      for (const time of read().filter((one) => one > newest)) {
        ages.push(Date.now() - time);
        newest = Math.max(newest, time);
      }
      if (ages.length >= count) resolve(ages);
      else requestAnimationFrame(watch);
    };
    requestAnimationFrame(watch);
  });
}
