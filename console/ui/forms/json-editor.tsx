import { useEffect, useRef } from 'react';
import styles from './json-editor.module.css';

/** An editor of JSON text, and what it reports. */
interface JsonEditorProps {
  /** The accessible name. */
  label: string;
  /** The text at first, and whenever it differs from what the editor has reported last. */
  value: string;
  onChange: (value: string) => void;
}

/**
 * A code editor for JSON that marks errors at their place. It loads when first shown, and keeps its height meanwhile. It
 * lives in a shadow tree, because only there it adds its styles in a way that the security policy of the console allows.
 */
export function JsonEditor({ label, value, onChange }: JsonEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<{ setText(text: string): void } | null>(null);
  const current = useRef({ value, onChange });
  current.current = { value, onChange };

  useEffect(() => {
    const element = host.current;
    if (!element) return;
    let isGone = false;
    let close = (): void => {};
    void import('./code-editor.ts').then(({ openJsonEditor }) => {
      if (isGone) return;
      const opened = openJsonEditor({
        root: element.shadowRoot ?? element.attachShadow({ mode: 'open' }),
        label,
        text: current.current.value,
        onChange: (text) => current.current.onChange(text),
      });
      editor.current = opened;
      close = opened.close;
    });
    return () => {
      isGone = true;
      editor.current = null;
      close();
    };
  }, [label]);

  useEffect(() => editor.current?.setText(value), [value]);
  return <div ref={host} className={styles.host} />;
}
