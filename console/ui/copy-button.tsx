import { Icon } from '@switchyard/design/icon.tsx';
import { useEffect, useState } from 'react';
import styles from './copy-button.module.css';

const CONFIRMATION_MS = 2_000;

/**
 * Copies the text, and returns false if the browser refuses. Browsers without a secure context have only the older command
 * for it.
 */
export async function copyText(text: string): Promise<boolean> {
  const { clipboard } = navigator;
  if (clipboard)
    return clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  const field = document.createElement('textarea');
  field.value = text;
  field.readOnly = true;
  field.className = 'visually-hidden';
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  return isCopied;
}

/** A small button that copies a text. `label` names the text for screen readers, such as `Copy run id`. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), CONFIRMATION_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  return (
    <>
      <button
        type="button"
        className={styles.copy}
        aria-label={label}
        onClick={async () => setCopied(await copyText(text))}
      >
        <Icon name={isCopied ? 'check' : 'copy'} />
      </button>
      <span className="visually-hidden" role="status">
        {isCopied ? 'Copied' : ''}
      </span>
    </>
  );
}
