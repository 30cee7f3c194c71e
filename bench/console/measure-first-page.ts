/** Weight of the first page, and time of an empty one. */
import { type Bench, visit, waitForIdle } from './visits.ts';

/** Returns the compressed kB of all scripts of the list of applications. */
export function measureFirstPageScript(bench: Bench): Promise<number> {
  return visit(bench, async (page) => {
    const sizes: Promise<number>[] = [];
    page.on('requestfinished', (request) => {
      if (request.resourceType() !== 'script') return;
      sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
    });
    await page.goto(`${bench.server.url}/console/`);
    await page.getByRole('link', { name: 'App console-bench' }).waitFor();
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    return bytes / 1000;
  });
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
