import { Icon } from '@switchyard/design/icon.tsx';
import type { ContentsEntry, DocsPage, NavigationEntry, Neighbour } from '../../page-data.ts';
import { Body } from '../markup/body.tsx';

/**
 * A page of the documentation between its navigation and its contents list. Where requests and responses stand beside the text,
 * the list is part of the navigation.
 */
export function DocsLayout({ page, navigation }: { page: DocsPage; navigation: NavigationEntry[] }) {
  const isReference = page.contents.some(({ method }) => method !== undefined);
  const place = { route: page.route, contents: isReference ? page.contents : [] };
  return (
    <div className={isReference ? 'docs reference' : 'docs'}>
      <Sidebar navigation={navigation} place={place} />
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
      {!isReference && <ContentsList contents={page.contents} />}
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

/** The methods that change nothing; the navigation shows them faint. */
const READING_METHODS = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

function Entries({ contents }: { contents: ContentsEntry[] }) {
  return (
    <ul className="track">
      {contents.map(({ id, text, level, method }) => (
        <li key={id} className={level === 3 ? 'inner' : undefined}>
          <a className="stop" href={`#${id}`}>
            {text}
            {method !== undefined && (
              <>
                {' '}
                <small className={READING_METHODS.has(method) ? 'reads' : undefined}>{method}</small>
              </>
            )}
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

/** The current page, with its headings if the navigation lists them. */
type Place = { route: string; contents: ContentsEntry[] };

function PageLink({ entry, place }: { entry: NavigationEntry; place: Place }) {
  const isCurrent = entry.route === place.route;
  return (
    <>
      <a className="stop" href={findAddress(entry)} aria-current={isCurrent ? 'page' : undefined}>
        {entry.label}
      </a>
      {isCurrent && place.contents.length > 0 && (
        <div data-follow-headings="">
          <Entries contents={place.contents} />
        </div>
      )}
    </>
  );
}

function SidebarEntries({ entries, place }: { entries: NavigationEntry[]; place: Place }) {
  return (
    <ul className="track">
      {entries.map((entry) => (
        <li key={entry.slug}>
          {entry.subpages === undefined ? (
            <PageLink entry={entry} place={place} />
          ) : (
            <Group entry={entry} place={place} />
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
function Group({ entry, place }: { entry: NavigationEntry; place: Place }) {
  const { label, subpages = [] } = entry;
  if (entry.route === undefined) {
    return (
      <>
        <span className="group-label">{label}</span>
        <SidebarEntries entries={subpages} place={place} />
      </>
    );
  }
  return (
    <details className="folded-pages" open={contains(entry, place.route)}>
      <summary>{label}</summary>
      <SidebarEntries entries={[{ ...entry, subpages: undefined }, ...subpages]} place={place} />
    </details>
  );
}

/** The groups of a task that the reader is not in, each a link to its first page. */
function Groups({ task }: { task: NavigationEntry }) {
  return (
    <ul className="track">
      {task.subpages?.map((entry) => (
        <li key={entry.slug}>
          <PageLink entry={entry} place={{ route: '', contents: [] }} />
        </li>
      ))}
    </ul>
  );
}

/**
 * The navigation by task. The task of the current page is open and has all its pages. The others have only their groups
 * and open without a script. All pages of all tasks would be a third of the bytes of a page.
 */
function Sidebar({ navigation, place }: { navigation: NavigationEntry[]; place: Place }) {
  return (
    <div className="sidebar" id="site-navigation">
      <nav className="tree" aria-label="Documentation">
        {navigation.map((entry) =>
          entry.subpages === undefined ? (
            <p className="section-link" key={entry.slug}>
              <PageLink entry={entry} place={place} />
            </p>
          ) : (
            <details key={entry.slug} open={contains(entry, place.route)}>
              <summary>{entry.label}</summary>
              {entry.route !== undefined && <PageLink entry={entry} place={place} />}
              {contains(entry, place.route) ? (
                <SidebarEntries entries={entry.subpages} place={place} />
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
