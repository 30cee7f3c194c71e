/** What axe-core, the usual checker of accessibility, finds on a page. */
import { createRequire } from 'node:module';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';

const script = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Contrast is left to `faintWords`, which also looks at what axe cannot decide, and to `axeColorFindings`. */
const options: RunOptions = { resultTypes: ['violations'], rules: { 'color-contrast': { enabled: false } } };

/** The rules whose answer depends on the theme. */
const colorRules: RunOptions = {
  resultTypes: ['violations'],
  runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] },
};

/** Every finding as "rule: element". The page must allow scripts from outside its policy. */
export async function axeFindings(page: Page): Promise<string[]> {
  await page.addScriptTag({ path: script });
  return run(page, options);
}

/** The same of colours alone, on a page that `axeFindings` has looked at in another theme. */
export function axeColorFindings(page: Page): Promise<string[]> {
  return run(page, colorRules);
}

async function run(page: Page, chosen: RunOptions): Promise<string[]> {
  const { violations } = await page.evaluate((given): Promise<AxeResults> => {
    const { axe } = globalThis as unknown as { axe: { run(options: RunOptions): Promise<AxeResults> } };
    return axe.run(given);
  }, chosen);
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 120)}`));
}
