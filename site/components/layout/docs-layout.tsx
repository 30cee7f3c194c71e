import { Icon } from '@switchyard/design/icon.tsx';
import type { ContentsEntry, DocsPage, NavigationEntry, Neighbour } from '../../page-data.ts';
import { Body } from '../markup/body.tsx';

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

/** Previous and next page along the one fixed order of all pages. */
function PreviousNextLinks({ previous, next }: { previous?: Neighbour; next?: Neighbour }) {
  if (!previous && !next) return null;
  return (
    <nav className="neighbours" aria-label="Previous and next page">
      {previous && (
        <a className="previous" rel="prev" href={previous.route}>
          <Icon name="previous" />
          <span>
            <small>Previous</small> {previous.label}
          </span>
        </a>
      )}
      {next && (
        <a className="next" rel="next" href={next.route}>
          <span>
            <small>Next</small> {next.label}
          </span>
          <Icon name="next" />
        </a>
      )}
    </nav>
  );
}

function Entries({ contents }: { contents: ContentsEntry[] }) {
  return (
    <ul className="track">
      {contents.map(({ id, text, level }) => (
        <li key={id} className={level === 3 ? 'inner' : undefined}>
          <a className="stop" href={`#${id}`}>
            {text}
          </a>
        </li>
      ))}
    </ul>
  );
}

/** The contents list beside the text, for wide windows. */
function ContentsList({ contents }: { contents: ContentsEntry[] }) {
  return (
    <div className="contents">
      {contents.length > 1 && (
        <nav aria-label="On this page" data-follow-headings="">
          <p className="contents-title">On this page</p>
          <Entries contents={contents} />
        </nav>
      )}
    </div>
  );
}

/** The contents list above the text, folded, for narrow windows. The style sheet displays one of the two. */
function CollapsedContents({ contents }: { contents: ContentsEntry[] }) {
  if (contents.length < 2) return null;
  return (
    <details className="folded-contents">
      <summary>On this page</summary>
      <Entries contents={contents} />
    </details>
  );
}

function contains(entry: NavigationEntry, route: string): boolean {
  return entry.route === route || (entry.subpages ?? []).some((child) => contains(child, route));
}

/** The address of an entry: its page, the page outside the site, or the first page below it. */
function findAddress({ externalUrl, route, subpages = [] }: NavigationEntry): string | undefined {
  return externalUrl ?? route ?? (subpages[0] && findAddress(subpages[0]));
}

function PageLink({ entry, route }: { entry: NavigationEntry; route: string }) {
  return (
    <a className="stop" href={findAddress(entry)} aria-current={entry.route === route ? 'page' : undefined}>
      {entry.label}
    </a>
  );
}

function SidebarEntries({ entries, route }: { entries: NavigationEntry[]; route: string }) {
  return (
    <ul className="track">
      {entries.map((entry) => (
        <li key={entry.slug}>
          {entry.subpages === undefined ? (
            <PageLink entry={entry} route={route} />
          ) : (
            <Group entry={entry} route={route} />
          )}
        </li>
      ))}
    </ul>
  );
}

/**
 * A group of pages: its label above them. The pages below a page are folded until the reader opens them: the reference of the
 * API alone has more pages than all other references together.
 */
function Group({ entry, route }: { entry: NavigationEntry; route: string }) {
  const { label, subpages = [] } = entry;
  if (entry.route === undefined) {
    return (
      <>
        <span className="group-label">{label}</span>
        <SidebarEntries entries={subpages} route={route} />
      </>
    );
  }
  return (
    <details className="folded-pages" open={contains(entry, route)}>
      <summary>{label}</summary>
      <SidebarEntries entries={[{ ...entry, subpages: undefined }, ...subpages]} route={route} />
    </details>
  );
}

/** The groups of a task that the reader is not in, each a link to its first page. */
function Groups({ task }: { task: NavigationEntry }) {
  return (
    <ul className="track">
      {task.subpages?.map((entry) => (
        <li key={entry.slug}>
          <PageLink entry={entry} route="" />
        </li>
      ))}
    </ul>
  );
}

/**
 * The navigation by task. The task of the current page is open and has all its pages. The others have only their groups
 * and open without a script. All pages of all tasks would be a third of the bytes of a page.
 */
function Sidebar({ navigation, route }: { navigation: NavigationEntry[]; route: string }) {
  return (
    <div className="sidebar" id="site-navigation">
      <nav aria-label="Documentation">
        {navigation.map((entry) =>
          entry.subpages === undefined ? (
            <p className="section-link" key={entry.slug}>
              <PageLink entry={entry} route={route} />
            </p>
          ) : (
            <details key={entry.slug} open={contains(entry, route)}>
              <summary>{entry.label}</summary>
              {entry.route !== undefined && <PageLink entry={entry} route={route} />}
              {contains(entry, route) ? (
                <SidebarEntries entries={entry.subpages} route={route} />
              ) : (
                <Groups task={entry} />
              )}
            </details>
          ),
        )}
      </nav>
      <button className="collapse needs-script" type="button" data-toggle-sidebar="" aria-expanded="true">
        <Icon name="sidebar" />
        <span>Hide navigation</span>
      </button>
      <a className="close-link" href="#main">
        Close
      </a>
    </div>
  );
}
