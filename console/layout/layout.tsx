import { Icon } from '@switchyard/design/icon.tsx';
import { Logo } from '@switchyard/design/logo.tsx';
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useMatches, useParams, useRouterState } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { isSignedOut } from '../client/client.ts';
import { accountQuery } from '../client/session.ts';
import { UndoNotice } from '../ui/destruction/undo-notice.tsx';
import { useTableKeys } from '../ui/keyboard/table-keys.ts';
import { PageTitleContext } from '../ui/page-title.ts';
import { AccountMenu } from './account-menu.tsx';
import { Breadcrumb } from './breadcrumb.tsx';
import { ConnectionStrip } from './connection-strip.tsx';
import styles from './layout.module.css';
import { Navigation } from './navigation.tsx';
import { Overlays } from './overlays.tsx';
import { DOCUMENTATION } from './pages.ts';
import { ProgressBar } from './progress-bar.tsx';
import { ThemeButton } from './theme-button.tsx';
import { useAccountEvents } from './use-account-events.ts';

const SessionDialog = lazy(async () => ({
  default: (await import('./session-dialog.tsx')).SessionDialog,
}));

/**
 * The frame of every page for a signed-in person. Navigation and tools come after the page in the document, so that few
 * presses of the tab key lead into the page; a link leads to the navigation. On a phone it is a drawer.
 */
export function Layout() {
  const [isOpen, setOpen] = useState(false);
  const [title, setTitle] = useState('');
  const navigation = useRef<HTMLElement>(null);
  const path = useRouterState({ select: (state) => state.location.pathname });
  // A visited link closes the drawer.
  useEffect(() => setOpen(false), [path]);
  useEffect(() => {
    if (isOpen) navigation.current?.focus();
  }, [isOpen]);
  const { error } = useQuery(accountQuery);
  useAccountEvents();
  useTableKeys();
  return (
    <div className={styles.frame} data-navigation={isOpen ? 'open' : undefined}>
      <a className="skip-link" href="#page">
        Skip to the page
      </a>
      <a className={`skip-link ${styles.toNavigation}`} href="#navigation">
        Skip to the navigation
      </a>
      <header className={styles.header}>
        <button
          type="button"
          className={`icon-button ${styles.menuButton}`}
          aria-label={isOpen ? 'Close navigation' : 'Open navigation'}
          aria-expanded={isOpen}
          aria-controls="navigation"
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name={isOpen ? 'close' : 'menu'} />
        </button>
        <Link to="/" className={styles.brand} aria-label="Switchyard">
          <Logo />
          <span>Switchyard</span>
        </Link>
        <Breadcrumb title={title} />
        <ProgressBar />
      </header>
      <main id="page" className={styles.page} tabIndex={-1}>
        <ConnectionStrip />
        <PageTitleContext value={setTitle}>
          <Outlet />
        </PageTitleContext>
      </main>
      <nav
        id="navigation"
        ref={navigation}
        className={styles.navigation}
        aria-label="Console"
        tabIndex={-1}
        onKeyDown={({ key }) => key === 'Escape' && setOpen(false)}
      >
        <Navigation />
      </nav>
      <section className={styles.tools} aria-label="Quick access">
        <Overlays />
        <DocumentationLink />
        <ThemeButton />
        <AccountMenu />
      </section>
      <UndoNotice />
      <Suspense fallback={null}>{isSignedOut(error) && <SessionDialog />}</Suspense>
    </div>
  );
}

/** Leads to the page of the documentation that explains this one. */
function DocumentationLink() {
  const match = useMatches().at(-1);
  const pages: Readonly<Record<string, string>> = DOCUMENTATION;
  const page = pages[match?.fullPath ?? ''];
  const { type = '' } = useParams({ strict: false });
  return (
    <a
      className={styles.docs}
      href={
        page === undefined
          ? '/docs'
          : `/docs/using-switchyard/${page.replace('$type', encodeURIComponent(type))}`
      }
    >
      Docs
    </a>
  );
}
