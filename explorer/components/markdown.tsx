import MarkdownIt, { type Token } from 'markdown-it';
import { createElement, Fragment, type ReactNode } from 'react';
import { Code } from './host.tsx';

/** Only links to the web, to mail and into the site are followed; any other stays the text that the author wrote. */
const SAFE_LINK = /^(https?:\/\/|mailto:|\/(?!\/)|#)/i;

/** markdown-it leaves out what is nested deeper than this. */
const MAX_NESTING_LEVELS = 100;

/** CommonMark with tables, as OpenAPI prescribes it for descriptions. HTML is text, so a document cannot inject any. */
const markdownIt = new MarkdownIt({ html: false, linkify: true });
markdownIt.validateLink = (href) => SAFE_LINK.test(href);
// Without these, `example.org` and `a@b` in plain words become links.
markdownIt.linkify.set({ fuzzyLink: false, fuzzyEmail: false });

/** Replaces the HTML tags that API authors use in place of Markdown. Code is left alone. */
function replaceTags(text: string): string {
  if (!text.includes('<')) return text;
  return text
    .split(/(```[\s\S]*?(?:```|$)|`[^`\n]*`)/)
    .map((piece, index) =>
      index % 2 === 1
        ? piece
        : piece
            .replace(/<br\s*\/?>/gi, '  \n')
            .replace(/<\/?p(\s[^<>]*)?>/gi, '\n\n')
            .replace(/<\/?(b|strong)>/gi, '**')
            .replace(/<\/?(i|em)>/gi, '*')
            .replace(/<\/?code>/gi, '`')
            .replace(/<a\s[^<>]*?href="([^"<>]*)"[^<>]*>([^<]*)<\/a>/gi, '[$2]($1)')
            .replace(/<li>\s*/gi, '\n- ')
            .replace(/<\/?(ul|ol|li)>/gi, '\n'),
    )
    .join('');
}

function parseMarkdown(text: string): Token[] {
  return markdownIt.parse(replaceTags(text), {});
}

/** Renders a token that holds no others. */
function renderLeaf(token: Token, key: number): ReactNode {
  switch (token.type) {
    case 'inline':
      return <Fragment key={key}>{renderTokens(token.children ?? [])}</Fragment>;
    case 'fence':
    case 'code_block':
      return <Code key={key} language="text" code={token.content.replace(/\n$/, '')} />;
    case 'code_inline':
      return <code key={key}>{token.content}</code>;
    case 'image':
      return (
        <a key={key} href={String(token.attrGet('src'))}>
          {renderTokens(token.children ?? [])}
        </a>
      );
    case 'softbreak':
      return '\n';
    case 'hardbreak':
      return <br key={key} />;
    case 'hr':
      return <hr key={key} />;
    default:
      return token.content;
  }
}

/** Renders a token that holds others. A heading is a bold line, because it is no heading of the page around it. */
function renderContainer(token: Token, key: number, children: readonly ReactNode[]): ReactNode {
  switch (token.type) {
    case 'heading_open':
      return (
        <p key={key}>
          <strong>{children}</strong>
        </p>
      );
    case 'paragraph_open':
      // The paragraph of a tight list item is hidden.
      return token.hidden ? <Fragment key={key}>{children}</Fragment> : <p key={key}>{children}</p>;
    case 'table_open':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard.
        // biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls, and landmarks of one name are one too many.
        <div key={key} className="api-table" role="group" aria-label="Table" tabIndex={0}>
          <table>{children}</table>
        </div>
      );
    default: {
      const href = token.attrGet('href') ?? undefined;
      const start = Number(token.attrGet('start') ?? 1);
      return createElement(
        token.tag,
        { key, ...(href !== undefined && { href }), ...(start !== 1 && { start }) },
        ...children,
      );
    }
  }
}

/** Renders markdown-it's flat list of tokens, in which a token opens (`nesting` 1), closes (-1) or is a leaf (0). */
function renderTokens(tokens: readonly Token[]): ReactNode[] {
  const root: ReactNode[] = [];
  const open: { token: Token; children: ReactNode[] }[] = [];
  for (const [index, token] of tokens.entries()) {
    if (token.nesting === 1) {
      open.push({ token, children: [] });
      continue;
    }
    const closed = token.nesting === -1 ? open.pop() : undefined;
    const node = closed ? renderContainer(closed.token, index, closed.children) : renderLeaf(token, index);
    (open.at(-1)?.children ?? root).push(node);
  }
  return root;
}

/** Renders a description, most often one paragraph; nothing for an empty one. A text that is nested too deep has its marks. */
export function Markdown({ text }: { text: string }) {
  if (text.trim() === '') return null;
  const tokens = parseMarkdown(text);
  const isComplete = tokens.every(({ level }) => level < MAX_NESTING_LEVELS - 1);
  if (!isComplete) return <p className="api-text">{text}</p>;
  const [first, inline, ...others] = tokens;
  if (first?.type === 'paragraph_open' && inline && others.length === 1)
    return <p className="api-text">{renderTokens([inline])}</p>;
  return <div className="api-text">{renderTokens(tokens)}</div>;
}

/**
 * Returns a description as one line of plain text, for a place that cannot hold a link. Returns undefined when it is
 * longer than 160 characters, has several paragraphs, or has marks other than code.
 */
export function formatSingleLine(text: string): string | undefined {
  const [first, inline, ...others] = parseMarkdown(text);
  if (first?.type !== 'paragraph_open' || others.length > 1) return undefined;
  const words = (inline?.children ?? []).map(({ type, content }) => {
    if (type === 'softbreak') return '\n';
    return type === 'text' || type === 'code_inline' ? content : undefined;
  });
  const line = words.includes(undefined) ? undefined : words.join('');
  return line !== undefined && line.length <= 160 ? line : undefined;
}
