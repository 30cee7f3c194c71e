import { Icon } from '@switchyard/design/icon.tsx';
import type { DocsPage, NavigationEntry } from '../../page-data.ts';
import { Body } from '../markup/body.tsx';
import { CollapsedContents, ContentsList } from './contents-list.tsx';
import { PreviousNextLinks } from './previous-next.tsx';
import { Sidebar } from './sidebar.tsx';

/** A page of the documentation between its navigation and its contents list. */
export function DocsLayout({ page, navigation }: { page: DocsPage; navigation: NavigationEntry[] }) {
  return (
    <div className="docs">
      <Sidebar navigation={navigation} route={page.route} />
      <button
        className="expand icon-button needs-script"
        type="button"
        data-toggle-sidebar=""
        aria-expanded="false"
      >
        <Icon name="sidebar" />
        <span className="visually-hidden">Show navigation</span>
      </button>
      <main id="main" tabIndex={-1}>
        <article className="article">
          <div className="article-head">
            {page.section.length > 0 && (
              <nav className="section-label" aria-label="Breadcrumb">
                {page.section.map(({ route, label }) => (
                  <a key={label} href={route}>
                    {label}
                  </a>
                ))}
              </nav>
            )}
            <h1>
              {page.title}
              {page.version !== undefined && (
                <>
                  {' '}
                  <span className="badge">{page.version}</span>
                </>
              )}
            </h1>
            <p className="intro">{page.intro}</p>
            <p className="page-actions">
              <button className="needs-script" type="button" data-copy="" data-copy-page="">
                Copy page
              </button>
              <a href={`${page.route}.md`}>View as Markdown</a>
            </p>
          </div>
          <CollapsedContents contents={page.contents} />
          <Body tree={page.body} />
        </article>
        <div className="article-foot">
          {page.lastUpdated && (
            <p>
              Last updated <time dateTime={page.lastUpdated.iso}>{page.lastUpdated.text}</time>
            </p>
          )}
          <PreviousNextLinks previous={page.previous} next={page.next} />
        </div>
      </main>
      <ContentsList contents={page.contents} />
    </div>
  );
}
