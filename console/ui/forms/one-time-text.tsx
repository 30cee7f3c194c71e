import type { ReactNode } from 'react';
import { Button } from '../button.tsx';
import { CopyButton } from '../copy-button.tsx';
import { Dialog } from '../dialog.tsx';
import styles from './one-time-text.module.css';

/** A text that no later response shows, such as a token, with a button that copies it. */
export function OneTimeText({
  title,
  label,
  text,
  advice,
  children,
  onClose,
}: {
  title: string;
  /** Names the text, such as `token`. */
  label: string;
  text: string;
  /** Says what to do with the text. */
  advice: string;
  /** Further content, such as a command that uses the text. */
  children?: ReactNode;
  onClose: () => void;
}) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{advice}</p>
      <CopyableText label={label} text={text} />
      {children}
      <div className={styles.actions}>
        <Button kind="primary" onPress={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}

/** A text with a button that copies it. `label` names the text. */
export function CopyableText({ label, text }: { label: string; text: string }) {
  return (
    <div className={styles.text}>
      <code>{text}</code>
      <CopyButton text={text} label={`Copy ${label}`} />
    </div>
  );
}
