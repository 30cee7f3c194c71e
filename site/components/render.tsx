import { renderToStaticMarkup } from 'react-dom/server';
import { UNLISTED_ROUTES, type View } from '../page-data.ts';
import { DocsLayout } from './layout/docs-layout.tsx';
import { Document } from './layout/document.tsx';
import { HOME_DESCRIPTION, Home } from './layout/home.tsx';
import { Body } from './markup/body.tsx';
import { InlineScripts } from './markup/inline-scripts.ts';

/** A window of 1440 by 900 pixels shows fewer characters of any page of this site. */
const SCREEN_CHARS = 12_000;

function element(view: View) {
  const { assets } = view;
  if (view.kind === 'home') {
    return (
      <Document
        assets={assets}
        title="Switchyard"
        description={HOME_DESCRIPTION}
        route="/"
        isListed
        hasMarkdown={false}
        hasNavigation={false}
      >
        <Home firstPage={view.firstPage} />
      </Document>
    );
  }
  const { page } = view;
  // Pages of two folders may have the same title; the folder tells them apart in a list of windows.
  const folder = view.kind === 'docs' ? view.page.section.slice(-1).map(({ label }) => label) : [];
  const isListed = !UNLISTED_ROUTES.has(page.route);
  return (
    <Document
      assets={assets}
      title={[page.title, ...folder, 'Switchyard'].join(' · ')}
      description={page.intro}
      route={page.route}
      isListed={isListed}
      hasMarkdown={isListed}
      hasNavigation={view.kind === 'docs'}
      {...(view.kind === 'docs' && { previous: view.page.previous, next: view.page.next })}
    >
      {view.kind === 'docs' ? (
        <DocsLayout page={view.page} navigation={view.navigation} />
      ) : (
        <main id="main" className="plain" tabIndex={-1}>
          <article className="article">
            <div className="article-head">
              <h1>{page.title}</h1>
              <p className="intro">{page.intro}</p>
            </div>
            <Body tree={page.body} />
          </article>
        </main>
      )}
    </Document>
  );
}

/** Renders one page to a whole HTML document, with the style sheets that it uses. */
export function renderView(view: View): string {
  const html = renderToStaticMarkup(
    <InlineScripts value={view.assets.inline}>{element(view)}</InlineScripts>,
  );
  const unused = view.assets.sheets.filter(({ usedBy }) => !usedBy.test(html));
  const page = unused.reduce((rest, { css }) => rest.replace(`<style>${css}</style>`, ''), html);
  const id = findFirstPaintAnchor(page);
  return `<!doctype html>${id === undefined ? page : page.replace('"#site-foot"', `"#${id}"`)}`;
}

/**
 * Returns the id of the heading that must have arrived before the browser paints; undefined for the whole page. Painting
 * at the first heading instead of the foot is 0.2 s sooner on a slow phone (medians of 9 loads, CPU x4, slow 4G). Later
 * content must not move the first screen, so a table is never split: its columns grow with its rows.
 */
function findFirstPaintAnchor(html: string): string | undefined {
  for (const { index, 1: id } of html.matchAll(/<h2 id="([^"]+)"/g))
    if (!html.slice(index, index + SCREEN_CHARS).includes('<table')) return id;
  return undefined;
}
