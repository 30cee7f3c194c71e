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

/** The contents list beside the text, where the window is wide enough for it. */
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

/** The same list above the text, folded, for narrow windows. Only one of the two is ever displayed. */
export function CollapsedContents({ contents }: { contents: ContentsEntry[] }) {
  if (contents.length < 2) return null;
  return (
    <details className="folded-contents">
      <summary>On this page</summary>
      <Entries contents={contents} />
    </details>
  );
}
