/**
 * Screenshots of the documentation, made by the tests that open the page. They are written only on request:
 * `SCREENSHOTS=site/content npm test -- console` replaces them.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright-core';

/** Writes the page as a PNG to the path below the folder that `SCREENSHOTS` names; does nothing without one. */
export async function saveScreenshot(page: Page, path: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder === undefined || folder === '') return;
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  // Fonts and pictures have loaded when two frames have passed without a request.
  await page.waitForLoadState('networkidle');
  writeFileSync(file, await page.screenshot({ fullPage: true, animations: 'disabled' }));
}
