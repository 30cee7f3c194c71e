import { useEffect, useRef, useState } from 'react';
import styles from './content-view.module.css';

/** The text of a content, with colours and folds for JSON. The editor is loaded when it is first shown. */
export function RawText({ text, isJson, label }: { text: string; isJson: boolean; label: string }) {
  const host = useRef<HTMLDivElement>(null);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    let isMounted = true;
    let close = () => {};
    import('./code-editor.ts').then(
      ({ showCode }) => {
        if (isMounted && host.current) close = showCode(host.current, text, { isJson, label });
      },
      () => setFailed(true),
    );
    return () => {
      isMounted = false;
      close();
    };
  }, [text, isJson, label]);
  if (failed) return <pre className={styles.plain}>{text}</pre>;
  return <div ref={host} className={styles.raw} />;
}
