import { Icon } from '@switchyard/design/icon.tsx';
import { Logo } from '@switchyard/design/logo.tsx';
import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { Button as AriaButton } from 'react-aria-components';
import { UndoNotice } from '../ui/destruction/undo-notice.tsx';
import { useTableKeys } from '../ui/keyboard/table-keys.ts';
import { AccountMenu } from './account-menu.tsx';
import { Breadcrumb } from './breadcrumb.tsx';
import styles from './layout.module.css';
import { Navigation } from './navigation.tsx';
import { Overlays } from './overlays.tsx';
import { ProgressBar } from './progress-bar.tsx';
import { ThemeButton } from './theme-button.tsx';
import { useAccountEvents } from './use-account-events.ts';

/** The frame of every page for a signed-in person. On a phone the navigation is a drawer. */
export function Layout() {
  const [isOpen, setOpen] = useState(false);
  const path = useRouterState({ select: (state) => state.location.pathname });
  // A visited link closes the drawer.
  useEffect(() => setOpen(false), [path]);
  useAccountEvents();
  useTableKeys();
  return (
    <div className={styles.frame} data-navigation={isOpen ? 'open' : undefined}>
      <a className="skip-link" href="#page">
        Skip to the page
      </a>
      <header className={styles.header}>
        <AriaButton
          className={`icon-button ${styles.menuButton}`}
          aria-label={isOpen ? 'Close navigation' : 'Open navigation'}
          aria-expanded={isOpen}
          aria-controls="navigation"
          onPress={() => setOpen(!isOpen)}
        >
          <Icon name={isOpen ? 'close' : 'menu'} />
        </AriaButton>
        <Link to="/" className={styles.brand}>
          <Logo />
          <span>Switchyard</span>
        </Link>
        <Breadcrumb />
        <div className={styles.tools}>
          <Overlays />
          <a className={styles.docs} href="/docs">
            Documentation
          </a>
          <ThemeButton />
          <AccountMenu />
        </div>
        <ProgressBar />
      </header>
      <nav id="navigation" className={styles.navigation} aria-label="Console">
        <Navigation />
      </nav>
      <main id="page" className={styles.page} tabIndex={-1}>
        <Outlet />
      </main>
      <UndoNotice />
    </div>
  );
}
