import { BANNER_PATH } from '@switchyard/contract/banner.ts';
import { SEARCH_PATH } from '@switchyard/contract/search.ts';
import type { ReactNode } from 'react';
import type { Assets } from '../page-data.ts';
import { Footer } from './footer.tsx';
import { Header } from './header.tsx';

type Props = {
  assets: Assets;
  title: string;
  description: string;
  /** The route of the page; its Markdown is at the same address with `.md`. */
  route: string;
  hasMarkdown: boolean;
  hasNavigation: boolean;
  children: ReactNode;
};

function InlineScript({ text, type }: { text: string; type?: string }) {
  return <script type={type} dangerouslySetInnerHTML={{ __html: text }} />;
}

/** The whole document. Everything inlined here is listed by hash in csp.json, so the policy needs no exception. */
export function Document(props: Props) {
  const { assets, title, description, route, hasMarkdown, hasNavigation, children } = props;
  return (
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{title}</title>
        <meta name="description" content={description} />
        <meta name="color-scheme" content="light dark" />
        <InlineScript text={assets.inline.head} />
        <style dangerouslySetInnerHTML={{ __html: assets.css }} />
        <link rel="icon" href="/favicon.ico" />
        <link rel="alternate" type="application/atom+xml" href="/releases.atom" />
        {hasMarkdown && <link rel="alternate" type="text/markdown" href={`${route}.md`} />}
        <script type="module" src={assets.script} />
        <InlineScript type="speculationrules" text={assets.inline.speculation} />
      </head>
      {/* The server puts other addresses in their place where it is told to. */}
      <body data-banner={BANNER_PATH} data-search={SEARCH_PATH}>
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
