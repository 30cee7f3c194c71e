/**
 * Screenshots of the documentation, made by the tests that open the page. They are written only on request:
 * `SCREENSHOTS=site/content npm test -- console` replaces them.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Locator } from 'playwright-core';

/** Space around the content, and the largest height, in pixels: a longer picture would fill a page. */
const MARGIN = 16;
const HEIGHT_MAX = 910;

/**
 * Writes a part of a page as a PNG to the path below the folder that `SCREENSHOTS` names; does nothing without one. The file
 * with `-dark` at the end of its name has the dark theme. A `height` in pixels includes what hangs below the part, such as an
 * open menu.
 */
export async function saveScreenshot(part: Locator, path: string, height?: number): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder === undefined || folder === '') return;
  const page = part.page();
  const window = page.viewportSize();
  // The whole part is visible in a window of this height, wherever it begins.
  if (window) await page.setViewportSize({ width: window.width, height: 2 * HEIGHT_MAX });
  const box = await part.boundingBox();
  if (!box) throw new Error('The part of the page is not visible.');
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  const clip = {
    x: box.x - MARGIN,
    y: box.y - MARGIN,
    width: box.width + 2 * MARGIN,
    height: Math.min((height ?? box.height) + 2 * MARGIN, HEIGHT_MAX),
  };
  for (const [colorScheme, ending] of [
    ['dark', '-dark.png'],
    ['light', '.png'],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    // Charts on a canvas are drawn again in the next frame.
    await page.evaluate(
      () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
    );
    writeFileSync(file.replace(/\.png$/, ending), await page.screenshot({ animations: 'disabled', clip }));
  }
  if (window) await page.setViewportSize(window);
}
