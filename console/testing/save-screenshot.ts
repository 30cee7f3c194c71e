/**
 * Screenshots of the documentation, made by the tests that open the page. They are written only on request:
 * `SCREENSHOTS=site/content npm test -- console` replaces them.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright-core';

/** Space around the content, and the largest height, in pixels: a longer picture would be a page of its own. */
const MARGIN = 16;
const HEIGHT_MAX = 1000;

/** Writes the content of the page, without its navigation, to the path below the folder that `SCREENSHOTS` names. */
export async function saveScreenshot(page: Page, path: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder === undefined || folder === '') return;
  const window = page.viewportSize();
  if (window) await page.setViewportSize({ width: window.width, height: HEIGHT_MAX + window.height });
  const box = await page.locator('main > *').first().boundingBox();
  if (!box) throw new Error('The page has no content.');
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  const clip = {
    x: box.x - MARGIN,
    y: box.y - MARGIN,
    width: box.width + 2 * MARGIN,
    height: Math.min(box.height + 2 * MARGIN, HEIGHT_MAX),
  };
  writeFileSync(file, await page.screenshot({ animations: 'disabled', clip }));
  if (window) await page.setViewportSize(window);
}
