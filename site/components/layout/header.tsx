import { Icon } from '@switchyard/design/icon.tsx';
import { Logo } from '@switchyard/design/logo.tsx';
import { SearchBox } from '../controls/search-form.tsx';

/**
 * The frame's head. The menu link opens the navigation: by script as a drawer, without it by its anchor. The theme
 * button does nothing without a script, so the style sheet shows it only where scripts run.
 */
export function Header({ hasNavigation }: { hasNavigation: boolean }) {
  return (
    <header className="header">
      {hasNavigation && (
        <a className="menu-link icon-button" href="#site-navigation" data-open-drawer="">
          <Icon name="menu" />
          <span className="visually-hidden">Menu</span>
        </a>
      )}
      <a className="brand" href="/">
        <Logo />
        <span>Switchyard</span>
      </a>
      <nav className="header-links" aria-label="Site">
        <a href="/docs" aria-current={hasNavigation ? 'true' : undefined}>
          Docs
        </a>
      </nav>
      <div className="banner" data-banner-place="" />
      <SearchBox />
      <button
        className="icon-button needs-script"
        type="button"
        data-toggle-theme=""
        aria-label="Dark theme"
        aria-pressed="false"
      >
        <Icon name="sun" />
        <Icon name="moon" />
      </button>
      <a className="sign-up" href="/sign-up">
        Sign up
      </a>
    </header>
  );
}
