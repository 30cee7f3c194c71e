/**
 * The built site for the tests of a file. `global-setup.ts` builds it once for all of them, and each file serves it in its
 * own way. The browser's pages are closed after each test.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BrowserSession } from '@switchyard/browser-testing/browser.ts';
import { afterAll, afterEach, beforeAll, inject } from 'vitest';

/** The folder of the site that all tests share. No test writes into it. */
export const builtSiteFolder: string = inject('builtSite');

/** Lists the files of all its pages, relative to `builtSiteFolder`. */
export function listPageFiles(): string[] {
  return readdirSync(builtSiteFolder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.html'),
  );
}

/** Returns the route of the page in a file. */
function getRoute(file: string): string {
  return `/${file.replace(/(^index)?\.html$/, '')}`;
}

/** Lists all routes without the addresses of folders, which show a page that has its own route. */
export function listCanonicalRoutes(): string[] {
  return listPageFiles().flatMap((file) => {
    const route = getRoute(file);
    const html = readFileSync(join(builtSiteFolder, file), 'utf8');
    const canonical = /<link rel="canonical" href="([^"]*)"/.exec(html)?.[1];
    return canonical === undefined || canonical === route ? [route] : [];
  });
}

/**
 * Lists few routes, chosen greedily, that together have each element with each class, each combination of style sheets and
 * each picture. A result for these pages holds for pages made of the same parts.
 */
export function listRoutesOfEachKind(): string[] {
  const partsByRoute = new Map(
    listPageFiles().map((file) => [
      getRoute(file),
      listParts(readFileSync(join(builtSiteFolder, file), 'utf8')),
    ]),
  );
  const missing = new Set([...partsByRoute.values()].flatMap((parts) => [...parts]));
  const chosen: string[] = [];
  while (missing.size > 0) {
    const gains = [...partsByRoute].map(
      ([route, parts]) => [route, [...parts].filter((part) => missing.has(part)).length] as const,
    );
    const [route] = gains.reduce((best, one) => (one[1] > best[1] ? one : best));
    for (const part of partsByRoute.get(route) ?? []) missing.delete(part);
    chosen.push(route);
  }
  return chosen;
}

/** Lists the elements with their classes, the style sheets and the pictures of a page. */
function listParts(html: string): Set<string> {
  const sheets = [...html.matchAll(/<style>[\s\S]*?<\/style>/g)].map(([sheet]) => sheet).join('');
  const body = html.replaceAll(/<(style|script)[\s\S]*?<\/\1>/g, '');
  const pictures = [...body.matchAll(/<(\w+) class="picture[\s\S]*?<\/\1>/g)].map(([picture]) => picture);
  const elements = [...body.matchAll(/<([a-z][\w-]*)([^>]*)/g)].map(
    ([, name, attributes = '']) => `${name}.${/\sclass="([^"]*)"/.exec(attributes)?.[1] ?? ''}`,
  );
  return new Set([sheets, ...pictures, ...elements]);
}

type Served = AsyncDisposable & { url: string };

/** Sets up site and browser for the tests of a file. The result is usable within tests; `site` is the result of `serve`. */
export function setUpSite<S extends Served>(
  serve: (folder: string) => Promise<S>,
): { readonly site: S; readonly visitors: BrowserSession } {
  const visitors = new BrowserSession();
  let served: S | undefined;
  beforeAll(async () => {
    served = await serve(builtSiteFolder);
    await visitors.launch();
  });
  afterEach(() => visitors.closePages());
  afterAll(async () => {
    await served?.[Symbol.asyncDispose]();
  });
  return {
    get site() {
      if (!served) throw new Error('The site is served once the tests have begun.');
      return served;
    },
    visitors,
  };
}
