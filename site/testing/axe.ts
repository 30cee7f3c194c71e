/** What axe-core, the usual checker of accessibility, finds on a page. */
import { createRequire } from 'node:module';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';

const script = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Contrast is left to `findLowContrastText`, which also looks at what axe cannot decide, and to `runAxeColorRules`. */
const options: RunOptions = { resultTypes: ['violations'], rules: { 'color-contrast': { enabled: false } } };

/** The navigation, the same on every page of the documentation: three quarters of the time that a page takes. */
const navigation = '#site-navigation';

/** The rules whose answer depends on the theme. */
const colorRules: RunOptions = {
  resultTypes: ['violations'],
  runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] },
};

/** Every finding as "rule: element". The page must allow scripts from outside its policy. */
export function runAxe(page: Page): Promise<string[]> {
  return run(page, options, []);
}

/**
 * The same of all but the navigation, for many pages one after the other as they are without scripts: each is put in the
 * place of the one before, in a document that axe was loaded into once. That takes a third of the time of a visit, in which
 * axe begins anew on a cold engine. Code is looked at without the elements that colour it: they have nothing but a class and
 * are most of the elements of a page, and colours are not looked at here.
 */
export async function runAxeOnRoutes(page: Page, routes: readonly string[]): Promise<string[]> {
  await page.addScriptTag({ path: script });
  const found: string[] = [];
  for (const route of routes) {
    await page.evaluate(async (address) => {
      const html = await (await fetch(address, { headers: { accept: 'text/html' } })).text();
      const { documentElement } = new DOMParser().parseFromString(html, 'text/html');
      for (const token of documentElement.querySelectorAll('pre code > span')) {
        if (token.getAttributeNames().join() === 'class') token.replaceWith(token.textContent);
      }
      document.replaceChild(document.adoptNode(documentElement), document.documentElement);
    }, route);
    found.push(...(await check(page, options, [navigation])).map((finding) => `${route}: ${finding}`));
  }
  return found;
}

/** The same of colours alone. */
export function runAxeColorRules(page: Page): Promise<string[]> {
  return run(page, colorRules, []);
}

type Axe = { run(context: { exclude: string[] }, options: RunOptions): Promise<AxeResults> };

async function run(page: Page, chosen: RunOptions, exclude: string[]): Promise<string[]> {
  await page.addScriptTag({ path: script });
  return check(page, chosen, exclude);
}

/** What `run` does where axe is loaded. */
async function check(page: Page, chosen: RunOptions, exclude: string[]): Promise<string[]> {
  const { violations } = await page.evaluate(
    ([given, without]): Promise<AxeResults> =>
      (globalThis as unknown as { axe: Axe }).axe.run({ exclude: without }, given),
    [chosen, exclude] as const,
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 120)}`));
}
