/** Runs axe-core, a checker of accessibility, on pages. */
import { createRequire } from 'node:module';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';
import { replaceDocument } from './replace-document.ts';

const script = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** `findLowContrastText` checks contrast, also in cases that axe cannot decide, and so does `runAxeColorRules`. */
const options: RunOptions = { resultTypes: ['violations'], rules: { 'color-contrast': { enabled: false } } };

/** The navigation is the same on every page of the documentation, and takes three quarters of the time of a check. */
const navigation = '#site-navigation';

/** The rules whose result depends on the theme. */
const colorRules: RunOptions = {
  resultTypes: ['violations'],
  runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] },
};

/** Returns every violation as "rule: element". The page must allow scripts from outside its policy. */
export function runAxe(page: Page): Promise<string[]> {
  return run(page, options, []);
}

/** Rules about links, headings and names, which depend on the text of a page and not on its components. */
const contentRules: RunOptions = {
  resultTypes: ['violations'],
  runOnly: {
    type: 'rule',
    values: [
      'document-title',
      'duplicate-id-aria',
      'empty-heading',
      'heading-order',
      'html-has-lang',
      'identical-links-same-purpose',
      'image-alt',
      'link-name',
      'page-has-heading-one',
      'svg-img-alt',
    ],
  },
};

/**
 * Returns the violations of many pages without their scripts and navigation, one page after the other. They share one
 * document, so axe is loaded once. The page must allow scripts from outside its policy.
 */
export async function runAxeOnRoutes(
  page: Page,
  routes: readonly string[],
  rules: 'all' | 'content',
): Promise<string[]> {
  await page.addScriptTag({ path: script });
  const found: string[] = [];
  for (const route of routes) {
    await replaceDocument(page, route);
    const findings = await check(page, rules === 'all' ? options : contentRules, [navigation]);
    found.push(...findings.map((finding) => `${route}: ${finding}`));
  }
  return found;
}

/** Returns the violations of the rules about colours alone. */
export function runAxeColorRules(page: Page): Promise<string[]> {
  return run(page, colorRules, []);
}

type Axe = { run(context: { exclude: string[] }, options: RunOptions): Promise<AxeResults> };

async function run(page: Page, chosen: RunOptions, exclude: string[]): Promise<string[]> {
  await page.addScriptTag({ path: script });
  return check(page, chosen, exclude);
}

declare global {
  interface Window {
    axe: Axe;
  }
}

/** Runs axe in a page that has loaded it. */
async function check(page: Page, chosen: RunOptions, exclude: string[]): Promise<string[]> {
  const { violations } = await page.evaluate(
    ([context, without]): Promise<AxeResults> => window.axe.run({ exclude: without }, context),
    [chosen, exclude] as const,
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 120)}`));
}
