import type { ReactNode } from 'react';
import type { Picture as PictureData } from '../../page-data.ts';

/** The components the content's markup renders to; CodeBlock and Tabs have their own files. */

type HeadingProps = { level: number; id: string; text: string; children?: ReactNode };

export function Heading({ level, id, text, children }: HeadingProps) {
  const Level = level === 2 ? 'h2' : 'h3';
  return (
    <Level id={id}>
      {children}{' '}
      <a className="permalink" href={`#${id}`} aria-label={`Link to “${text}”`}>
        #
      </a>
    </Level>
  );
}

type HintProps = { type: 'note' | 'tip' | 'warning'; title?: string; children?: ReactNode };

const hintTitles = { note: 'Note', tip: 'Tip', warning: 'Take care' };

export function Hint({ type, title, children }: HintProps) {
  return (
    <div className={`hint hint-${type}`} role="note" aria-label={title ?? hintTitles[type]}>
      <p className="hint-title">{title ?? hintTitles[type]}</p>
      {children}
    </div>
  );
}

type PictureProps = PictureData & { alt: string; caption?: string };

export function Picture({ alt, caption, ...picture }: PictureProps) {
  return (
    <figure className="picture">
      {'markup' in picture ? (
        // The build has checked the drawing: it holds no script, style or handler.
        <div role="img" aria-label={alt} dangerouslySetInnerHTML={{ __html: picture.markup }} />
      ) : (
        <PictureFiles alt={alt} {...picture} />
      )}
      {caption !== undefined && <figcaption>{caption}</figcaption>}
    </figure>
  );
}

type FileProps = Exclude<PictureData, { markup: string }> & { alt: string };

/** The picture of each theme. The style sheet hides one, and a lazy picture that is hidden is not loaded. */
function PictureFiles({ url, darkUrl, alt, width, height }: FileProps) {
  const size = { width, height };
  if (darkUrl === undefined) return <img src={url} alt={alt} {...size} loading="lazy" />;
  return (
    <>
      <img className="in-light" src={url} alt={alt} {...size} loading="lazy" />
      <img className="in-dark" src={darkUrl} alt={alt} {...size} loading="lazy" />
    </>
  );
}

/** A table that scrolls on its own when the window is too narrow for it. */
export function Table({ children }: { children?: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard.
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls.
    <div className="table" role="group" aria-label="Table" tabIndex={0}>
      <table>{children}</table>
    </div>
  );
}

/** The place for the error message, which the server fills in. */
export function ErrorMessage() {
  return <p data-error="" />;
}

/** The server's health, filled in by a script; without one the links lead to the same reports. */
export function ServiceStatus() {
  return (
    <ul className="service-status" data-service-status="">
      <li data-address="/healthz">
        <a href="/healthz">/healthz</a> <span aria-live="polite">is the server alive?</span>
      </li>
      <li data-address="/readyz">
        <a href="/readyz">/readyz</a> <span aria-live="polite">can it take work?</span>
      </li>
    </ul>
  );
}
