import type { Token } from '../../page-data.ts';

type Props = {
  language: string;
  caption?: string;
  installation?: { text: string; href: string };
  lines: Token[][];
};

/**
 * A code block, coloured at build time. The copy button is shown where scripts run; long lines scroll by keyboard too. A block
 * that connects the terminal to a server begins with a link to the `installation` of the clients.
 */
export function CodeBlock({ language, caption, installation, lines }: Props) {
  return (
    <figure className="code" data-language={language}>
      {caption !== undefined && <figcaption>{caption}</figcaption>}
      {installation && (
        <figcaption>
          <a href={installation.href}>{installation.text}</a>
        </figcaption>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard. */}
      <pre tabIndex={0}>
        <code>
          {lines.map((tokens, index) => (
            <Line key={`${index}:`} tokens={tokens} last={index === lines.length - 1} />
          ))}
        </code>
      </pre>
      <button className="copy needs-script" type="button" data-copy="">
        Copy
      </button>
    </figure>
  );
}

function Line({ tokens, last }: { tokens: Token[]; last: boolean }) {
  return (
    <>
      {tokens.map((token, index) =>
        token.class === undefined ? (
          token.text
        ) : (
          <span key={`${index}:`} className={token.class}>
            {token.text}
          </span>
        ),
      )}
      {last ? '' : '\n'}
    </>
  );
}
