/** Runs axe-core, a checker of accessibility, on pages. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Frame, Page } from 'playwright-core';
import { replaceDocument } from './replace-document.ts';

const script = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** `findLowContrastText` checks contrast, also in cases that axe cannot decide, and so does `runAxeWithContrast`. */
const options: RunOptions = { resultTypes: ['violations'], rules: { 'color-contrast': { enabled: false } } };

/** The navigation is the same on every page of the documentation, and takes three quarters of the time of a check. */
const navigation = '#site-navigation';

/** The other rule whose result depends on the theme. */
const linkRules: RunOptions = {
  resultTypes: ['violations'],
  runOnly: { type: 'rule', values: ['link-in-text-block'] },
};

/** The navigation of a page may be left out of a check. */
type Parts = 'all' | 'without navigation';
const listExcluded = (parts: Parts): string[] => (parts === 'all' ? [] : [navigation]);

/** Returns every violation as "rule: element". */
export function runAxe(page: Page): Promise<string[]> {
  return run(page, options, []);
}

/** Returns every violation, including those of axe's own rule about contrast. */
export function runAxeWithContrast(page: Page, parts: Parts): Promise<string[]> {
  return run(page, { resultTypes: ['violations'] }, listExcluded(parts));
}

/** Returns the violations of the rules whose result depends on the theme, after `runAxeWithContrast` in the other theme. */
export function runAxeThemeRules(page: Page): Promise<string[]> {
  return check(
    page,
    {
      resultTypes: ['violations'],
      runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] },
    },
    [],
  );
}

/** Returns the links within text that differ from it too little. */
export function findUnmarkedLinks(page: Page, parts: Parts): Promise<string[]> {
  return run(page, linkRules, listExcluded(parts));
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

/** Loads axe once for all documents that `replaceDocument` puts there. The policy of the page does not apply to it. */
export async function loadAxe(target: Page | Frame): Promise<void> {
  await target.evaluate(script);
}

/** Returns the violations in the page of a route without its scripts and navigation. `loadAxe` comes first. */
export async function runAxeOnRoute(
  target: Page | Frame,
  route: string,
  rules: 'all' | 'content',
): Promise<string[]> {
  await replaceDocument(target, route);
  const violations = await check(target, rules === 'all' ? options : contentRules, [navigation]);
  return violations.map((violation) => `${route}: ${violation}`);
}

type Axe = { run(context: { exclude: string[] }, options: RunOptions): Promise<AxeResults> };

async function run(page: Page, chosen: RunOptions, exclude: string[]): Promise<string[]> {
  await loadAxe(page);
  return check(page, chosen, exclude);
}

declare global {
  interface Window {
    axe: Axe;
  }
}

/** Runs axe in a page or frame that has loaded it. */
async function check(target: Page | Frame, chosen: RunOptions, exclude: string[]): Promise<string[]> {
  const { violations } = await target.evaluate(
    ([context, without]): Promise<AxeResults> => window.axe.run({ exclude: without }, context),
    [chosen, exclude] as const,
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 120)}`));
}
