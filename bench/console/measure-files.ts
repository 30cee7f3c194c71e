/** Files, bytes and requests of a page, and its first paint. */
import { sleep } from '../../server/testing/host/sleep.ts';
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
  /** When the browser first painted something. */
  paintMs: number;
}

/** A page below `/console`, which has loaded when the text is there. */
interface WeighedPage {
  path: string;
  text: string;
  /** What each response of the API takes. */
  apiMs?: number;
}

/** Returns what the page loads with an empty cache until it is idle. */
export function measureWeight(bench: Bench, { path, text, apiMs = 0 }: WeighedPage): Promise<PageWeight> {
  return visit(bench, async (page) => {
    const files: Promise<{ isScript: boolean; bytes: number }>[] = [];
    let requests = 0;
    page.on('request', (request) => {
      if (/\/v1\/(?!.*\/events$)/.test(request.url())) requests += 1;
    });
    page.on('requestfinished', (request) => {
      const type = request.resourceType();
      if (type !== 'script' && type !== 'stylesheet') return;
      const sizes = request.sizes();
      files.push(sizes.then((size) => ({ isScript: type === 'script', bytes: size.responseBodySize })));
    });
    if (apiMs > 0)
      await page.route('**/v1/**', async (route) => {
        await sleep(apiMs);
        await route.continue().catch(() => {});
      });
    await page.goto(`${bench.server.url}/console${path}`);
    await page.getByText(text).first().waitFor();
    await waitForIdle(page);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    const loaded = await Promise.all(files);
    const bytes = loaded.filter(({ isScript }) => isScript).reduce((sum, file) => sum + file.bytes, 0);
    const paintMs = await page.evaluate(
      () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN,
    );
    return { path, files: loaded.length, scriptKilobytes: bytes / 1000, requests, paintMs };
  });
}
