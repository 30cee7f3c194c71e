import { renderToStaticMarkup } from 'react-dom/server';
import type { View } from '../page-data.ts';
import { Body } from './body.tsx';
import { DocsLayout } from './docs-layout.tsx';
import { Document } from './document.tsx';
import { Home, homeDescription } from './home.tsx';
import { InlineScripts } from './inline-scripts.ts';

function element(view: View) {
  const { assets } = view;
  if (view.kind === 'home') {
    return (
      <Document
        assets={assets}
        title="Switchyard"
        description={homeDescription}
        route="/"
        hasMarkdown={false}
        hasNavigation={false}
      >
        <Home firstPage={view.firstPage} />
      </Document>
    );
  }
  const { page } = view;
  return (
    <Document
      assets={assets}
      title={`${page.title} · Switchyard`}
      description={page.intro}
      route={page.route}
      hasMarkdown={page.route !== '/404' && page.route !== '/search'}
      hasNavigation={view.kind === 'docs'}
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

/** Renders one page to a whole HTML document. */
export function renderView(view: View): string {
  const html = renderToStaticMarkup(
    <InlineScripts value={view.assets.inline}>{element(view)}</InlineScripts>,
  );
  return `<!doctype html>${html}`;
}
