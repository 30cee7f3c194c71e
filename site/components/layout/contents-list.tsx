import type { ContentsEntry } from '../../page-data.ts';

function Entries({ contents }: { contents: ContentsEntry[] }) {
  return (
    <ul className="track">
      {contents.map(({ id, text, level }) => (
        <li key={id} className={level === 3 ? 'inner' : undefined}>
          <a className="stop" href={`#${id}`}>
            {text}
          </a>
        </li>
      ))}
    </ul>
  );
}

/** The contents list beside the text, for wide windows. */
export function ContentsList({ contents }: { contents: ContentsEntry[] }) {
  return (
    <div className="contents">
      {contents.length > 1 && (
        <nav aria-label="On this page" data-follow-headings="">
          <p className="contents-title">On this page</p>
          <Entries contents={contents} />
        </nav>
      )}
    </div>
  );
}

/** The contents list above the text, folded, for narrow windows. The style sheet displays one of the two. */
export function CollapsedContents({ contents }: { contents: ContentsEntry[] }) {
  if (contents.length < 2) return null;
  return (
    <details className="folded-contents">
      <summary>On this page</summary>
      <Entries contents={contents} />
    </details>
  );
}
