import { Icon } from '@switchyard/design/icon.tsx';
import type { NavigationEntry } from '../../page-data.ts';

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
        <Entries entries={subpages} route={route} />
      </>
    );
  }
  return (
    <details className="folded-pages" open={contains(entry, route)}>
      <summary>{label}</summary>
      <Entries entries={[{ ...entry, subpages: undefined }, ...subpages]} route={route} />
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
