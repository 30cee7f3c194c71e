import { renderToStaticMarkup } from 'react-dom/server';
import { UNLISTED_ROUTES, type View } from '../page-data.ts';
import { DocsLayout } from './layout/docs-layout.tsx';
import { Document } from './layout/document.tsx';
import { findFirstPaintAnchor } from './layout/first-paint.ts';
import { HOME_DESCRIPTION, Home } from './layout/home.tsx';
import { Body } from './markup/body.tsx';
import { InlineScripts } from './markup/inline-scripts.ts';

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
