/**
 * The built site for the tests of a file: built once for all of them by `global-setup.ts`, served as the file wishes, with
 * a browser whose pages are closed after each test.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, inject } from 'vitest';
import { BrowserSession } from './browser.ts';

/** Where the site lies that all tests look at. Nobody writes into it. */
export const builtSiteFolder: string = inject('builtSite');

/** The files of all its pages, from `builtSiteFolder`. */
export function listPageFiles(): string[] {
  return readdirSync(builtSiteFolder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.html'),
  );
}

/** The route of a page by its file. */
function getRoute(file: string): string {
  return `/${file.replace(/(^index)?\.html$/, '')}`;
}

/** The routes of all its pages. */
export function listRoutes(): string[] {
  return listPageFiles().map(getRoute);
}

/** All routes but the addresses of folders, which show a page that has a route of its own. */
export function listCanonicalRoutes(): string[] {
  return listPageFiles().flatMap((file) => {
    const route = getRoute(file);
    const html = readFileSync(join(builtSiteFolder, file), 'utf8');
    const canonical = /<link rel="canonical" href="([^"]*)"/.exec(html)?.[1];
    return canonical === undefined || canonical === route ? [route] : [];
  });
}

type Served = AsyncDisposable & { url: string };

/** To be called outside of a test. What it returns can be used within tests; `site` is what `serve` gave. */
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
    await visitors.close();
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
