import { Icon } from '@switchyard/design/icon.tsx';
import type { NavigationEntry } from '../../page-data.ts';

function contains(entry: NavigationEntry, route: string): boolean {
  return entry.route === route || (entry.subpages ?? []).some((child) => contains(child, route));
}

function PageLink({ entry, route }: { entry: NavigationEntry; route: string }) {
  const href = entry.externalUrl ?? entry.route;
  if (href === undefined) return null;
  return (
    <a className="stop" href={href} aria-current={href === route ? 'page' : undefined}>
      {entry.label}
    </a>
  );
}

function Entries({ entries, route }: { entries: NavigationEntry[]; route: string }) {
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

/** A folder inside a section: its label, or its own page, above its pages. */
function Group({ entry, route }: { entry: NavigationEntry; route: string }) {
  return (
    <>
      {entry.route === undefined ? (
        <span className="group-label">{entry.label}</span>
      ) : (
        <PageLink entry={entry} route={route} />
      )}
      <Entries entries={entry.subpages ?? []} route={route} />
    </>
  );
}

/** The groups of a section that the reader is not in, each a link to its address, which shows its first page. */
function Groups({ section }: { section: NavigationEntry }) {
  return (
    <ul className="track">
      {section.subpages?.map((entry) => (
        <li key={entry.slug}>
          <a
            className="stop"
            href={entry.externalUrl ?? entry.route ?? `/docs/${section.slug}/${entry.slug}`}
          >
            {entry.label}
          </a>
        </li>
      ))}
    </ul>
  );
}

/**
 * The navigation tree. The section of the current page is open and has all its pages. The others have only their groups
 * and open without a script. All pages of all sections would be a third of the bytes of a page.
 */
export function Sidebar({ navigation, route }: { navigation: NavigationEntry[]; route: string }) {
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
                <Entries entries={entry.subpages} route={route} />
              ) : (
                <Groups section={entry} />
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
