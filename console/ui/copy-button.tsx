import { Icon } from '@switchyard/design/icon.tsx';
import { useEffect, useState } from 'react';
import { Button as AriaButton } from 'react-aria-components';
import styles from './copy-button.module.css';

const CONFIRMATION_MS = 2_000;

/** Copies the text; browsers without a secure context have only the older command for it. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = document.createElement('textarea');
  field.value = text;
  field.readOnly = true;
  field.className = 'visually-hidden';
  document.body.append(field);
  field.select();
  document.execCommand('copy');
  field.remove();
}

/** A small button that copies a text. `label` names the text for screen readers, such as `Copy run id`. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), CONFIRMATION_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    await copyText(text);
    setCopied(true);
  };
  return (
    <>
      <AriaButton className={styles.copy ?? ''} aria-label={label} onPress={copy}>
        <Icon name={isCopied ? 'check' : 'copy'} />
      </AriaButton>
      <span className="visually-hidden" role="status">
        {isCopied ? 'Copied' : ''}
      </span>
    </>
  );
}
