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
  previous?: string;
  next?: string;
  children: ReactNode;
};

const favicon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32' fill='none' stroke-width='4.5' stroke-linecap='round'%3E%3Cpath stroke='%23a39a8c' d='M3 23h26M3 9h26'/%3E%3Cpath stroke='%23e8590c' d='M5 23c11 0 11-14 22-14'/%3E%3C/svg%3E";

function InlineScript({ text, type }: { text: string; type?: string }) {
  return <script type={type} dangerouslySetInnerHTML={{ __html: text }} />;
}

/** The whole document. Everything inlined here is listed by hash in csp.json, so the policy needs no exception. */
export function Document(props: Props) {
  const { assets, title, description, route, hasMarkdown, hasNavigation, previous, next, children } = props;
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
        <link rel="icon" href={favicon} />
        <link rel="alternate" type="application/atom+xml" title="Releases" href="/releases.atom" />
        {previous && <link rel="prev" href={previous} />}
        {next && <link rel="next" href={next} />}
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
