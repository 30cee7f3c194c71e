import { Icon } from '@switchyard/design/icon.tsx';
import { type ReactNode, useRef } from 'react';
import { Button } from '../../../ui/button.tsx';
import styles from './evidence.module.css';

interface EvidenceProps {
  /** Selects what the pictures show. */
  controls?: ReactNode;
  /** The pictures that are open from the start, two to a row. */
  pictures?: ReactNode;
  /** The folded parts. */
  children: ReactNode;
}

/** All that supports the answer above it: pictures, and folded parts whose label is their finding. */
export function Evidence({ controls, pictures, children }: EvidenceProps) {
  const section = useRef<HTMLElement>(null);
  return (
    <section ref={section} aria-labelledby="evidence" className={styles.evidence}>
      <div className={styles.head}>
        <h2 id="evidence">Evidence</h2>
        {controls}
        <span className={styles.push} data-page-only="">
          <Button kind="quiet" onPress={() => section.current && openFolds(section.current)}>
            Open all
          </Button>
        </span>
      </div>
      {pictures && <div className={styles.two}>{pictures}</div>}
      <div className={styles.folds}>{children}</div>
    </section>
  );
}

interface FoldProps {
  title: string;
  /** What the part shows, in one line. */
  finding: ReactNode;
  /** true for a table, which needs the whole row when it is open. */
  isWide?: boolean;
  /** true where the address asks for the part. */
  isOpen?: boolean;
  children: ReactNode;
}

/** A folded part of the evidence. */
export function Fold({ title, finding, isWide = false, isOpen = false, children }: FoldProps) {
  return (
    <details className={`${styles.fold} ${isWide ? styles.wide : ''}`} data-fold="" open={isOpen}>
      <summary>
        <Icon name="next" />
        <span>
          <b>{title}</b>
          <span className="meta">{finding}</span>
        </span>
      </summary>
      <div className={styles.content}>{children}</div>
    </details>
  );
}

/** Opens the folded parts of an element, and returns those that were closed. */
export function openFolds(element: Element): HTMLDetailsElement[] {
  const closed = [...element.querySelectorAll<HTMLDetailsElement>('details[data-fold]:not([open])')];
  for (const fold of closed) fold.open = true;
  return closed;
}
