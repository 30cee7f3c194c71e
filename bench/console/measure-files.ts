/** Files, bytes and requests of a page, and the first paint while the API is slow. */
import { type Bench, visit, waitForIdle } from './visits.ts';

/** What a page loaded. */
export interface PageWeight {
  path: string;
  /** Scripts and style sheets. */
  files: number;
  /** Compressed kB of the scripts, as the browser received them. */
  scriptKilobytes: number;
  /** Requests of the API until the page was idle, without streams of events. */
  requests: number;
}

/** Returns what the page below `/console` loads with an empty cache until the text is there and the page is idle. */
export function measureWeight(bench: Bench, path: string, text: string | RegExp): Promise<PageWeight> {
  return visit(bench, async (page) => {
    const files: Promise<{ isScript: boolean; bytes: number }>[] = [];
    let requests = 0;
    page.on('request', (request) => {
      if (new URL(request.url()).pathname.startsWith('/v1/') && !/\/(events|stream)\b/.test(request.url()))
        requests += 1;
    });
    page.on('requestfinished', (request) => {
      const type = request.resourceType();
      if (type === 'script' || type === 'stylesheet')
        files.push(
          request
            .sizes()
            .then(({ responseBodySize }) => ({ isScript: type === 'script', bytes: responseBodySize })),
        );
    });
    await page.goto(`${bench.server.url}/console${path}`);
    await page.getByText(text).first().waitFor();
    await waitForIdle(page);
    const loaded = await Promise.all(files);
    const bytes = loaded.filter(({ isScript }) => isScript).reduce((sum, file) => sum + file.bytes, 0);
    return { path, files: loaded.length, scriptKilobytes: bytes / 1000, requests };
  });
}

/** Returns the ms until the shell is painted while every response of the API takes `delayMs`. */
export function measureFirstPaint(bench: Bench, delayMs: number): Promise<number> {
  return visit(bench, async (page) => {
    await page.route('**/v1/**', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      await route.continue().catch(() => {});
    });
    await page.goto(`${bench.server.url}/console/`);
    const painted = await page.evaluate(
      () =>
        new Promise<number>((resolve) =>
          new PerformanceObserver((list) => {
            for (const { startTime } of list.getEntriesByName('first-contentful-paint')) resolve(startTime);
          }).observe({ type: 'paint', buffered: true }),
        ),
    );
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    return painted;
  });
}
