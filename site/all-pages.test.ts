/** Rules that depend on the text of a page and not on its components, so every page is checked. */
import { loadAxe, runAxeOnRoute } from '@switchyard/browser-testing/axe.ts';
import { hasBrowser } from '@switchyard/browser-testing/browser.ts';
import { describe, expect, test } from 'vitest';
import { listCanonicalRoutes, setUpSite } from './testing/built-site.ts';
import { openHiddenFrame } from './testing/hidden-frame.ts';
import { findIllegibleText, MIN_LABEL_SIZE_PX } from './testing/legibility.ts';
import { serveFolder } from './testing/serve-folder.ts';

const widthsPx = [1440, 390];
/** A page takes under a second, and there are many of them. */
const allPagesMs = 600_000;

const at = setUpSite(serveFolder);

describe.skipIf(!hasBrowser)('every page', () => {
  test('has sound links, headings and names, and fits a wide and a narrow window (B22)', {
    timeout: allPagesMs,
  }, async () => {
    const page = await at.visitors.newPage({
      baseURL: at.site.url,
      reducedMotion: 'reduce',
    });
    await page.goto('/', { waitUntil: 'load' });
    const { frame, setWidth } = await openHiddenFrame(page);
    await loadAxe(frame);
    const found: string[] = [];
    for (const route of listCanonicalRoutes()) {
      found.push(...(await runAxeOnRoute(frame, route, 'content')));
      for (const widthPx of widthsPx) {
        await setWidth(widthPx);
        const [overflowPx, visiblePx] = await frame.evaluate(() => [
          document.documentElement.scrollWidth - innerWidth,
          innerWidth,
        ]);
        expect(visiblePx).toBe(widthPx);
        const illegible = await frame.evaluate(findIllegibleText, MIN_LABEL_SIZE_PX);
        const findings = overflowPx > 0 ? [`${overflowPx} pixels too wide`, ...illegible] : illegible;
        found.push(...findings.map((finding) => `${route}, ${widthPx} pixels wide: ${finding}`));
      }
    }
    expect(found).toEqual([]);
  });

  test('is found too wide when an element is wider than a narrow window', async () => {
    const page = await at.visitors.newPage({ baseURL: at.site.url });
    await page.goto('/terms', { waitUntil: 'load' });
    const { frame, setWidth } = await openHiddenFrame(page);
    await setWidth(390);
    await frame.evaluate(() => {
      const wide = document.createElement('table');
      wide.width = '500';
      wide.textContent = 'Wide';
      document.body.append(wide);
    });
    expect(await frame.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeGreaterThan(0);
  });
});
