import { BANNER_PATH } from '@switchyard/contract/site/banner.ts';
import { SEARCH_PATH } from '@switchyard/contract/site/search.ts';
import { BUILD_ADDRESS } from '@switchyard/contract/site/site-address.ts';
import { Icon } from '@switchyard/design/icon.tsx';
import { Logo } from '@switchyard/design/logo.tsx';
import type { ReactNode } from 'react';
import type { Assets, Neighbour } from '../../page-data.ts';
import { SearchBox } from '../markup/search-form.tsx';

type Props = {
  assets: Assets;
  title: string;
  description: string;
  /** The route of the page; its Markdown is at the same address with `.md`. */
  route: string;
  /** false for a page without content of its own, which search engines must leave out. */
  isListed: boolean;
  hasMarkdown: boolean;
  hasNavigation: boolean;
  previous?: Neighbour | undefined;
  next?: Neighbour | undefined;
  children: ReactNode;
};

function InlineScript({ text, type }: { text: string; type?: string }) {
  return <script type={type} dangerouslySetInnerHTML={{ __html: text }} />;
}

/** The whole document. Everything inlined here is listed by hash in csp.json, so the policy needs no exception. */
export function Document(props: Props) {
  const { assets, title, description, route, isListed, hasMarkdown, hasNavigation } = props;
  const { previous, next, children } = props;
  return (
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{title}</title>
        <meta name="description" content={description} />
        <meta property="og:title" content={title} />
        <meta property="og:description" content={description} />
        <meta property="og:type" content={hasNavigation ? 'article' : 'website'} />
        {/* The address of a folder shows its first page, so a page may have several addresses and one canonical one. */}
        {isListed ? <link rel="canonical" href={route} /> : <meta name="robots" content="noindex" />}
        <meta name="color-scheme" content="light dark" />
        {/* The browser paints the first screen once, as a whole; render.tsx chooses where it ends. */}
        <link rel="expect" href="#site-foot" blocking="render" />
        <InlineScript text={assets.inline.head} />
        <style dangerouslySetInnerHTML={{ __html: assets.css }} />
        {assets.sheets.map(({ css }) => (
          <style key={css} dangerouslySetInnerHTML={{ __html: css }} />
        ))}
        <link rel="icon" href="/favicon.ico" />
        <link rel="alternate" type="application/atom+xml" href="/releases.atom" />
        {hasMarkdown && <link rel="alternate" type="text/markdown" href={`${route}.md`} />}
        {previous && <link rel="prev" href={previous.route} />}
        {next && <link rel="next" href={next.route} />}
        <script type="module" src={assets.script} />
        <InlineScript type="speculationrules" text={assets.inline.speculation} />
      </head>
      {/* The server replaces these addresses where its settings name others. */}
      <body data-banner={BANNER_PATH} data-search={SEARCH_PATH} data-server={BUILD_ADDRESS}>
        <a className="skip-link" href="#main">
          Skip to content
        </a>
        <Header hasNavigation={hasNavigation} />
        {children}
        <Footer />
      </body>
    </html>
  );
}

function Footer() {
  return (
    <footer className="footer" id="site-foot">
      <p>Switchyard. Open source, on your own machines.</p>
      <nav aria-label="About this site">
        <a href="/terms">Terms</a>
        <a href="/privacy">Privacy</a>
        <a href="/status">Status</a>
      </nav>
    </footer>
  );
}

/**
 * The frame's head. The menu link opens the navigation: by script as a drawer, without it by its anchor. The theme
 * button does nothing without a script, so the style sheet shows it only where scripts run.
 */
function Header({ hasNavigation }: { hasNavigation: boolean }) {
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
        <a href="/docs/using-switchyard/reference/api">API</a>
        <a href="/sign-up">Sign up</a>
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
      <a className="open-console" href="/console">
        Open console
      </a>
    </header>
  );
}
