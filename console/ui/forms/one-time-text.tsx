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
  onClose,
}: {
  title: string;
  /** Names the text, such as `token`. */
  label: string;
  text: string;
  /** Says what to do with the text. */
  advice: string;
  onClose: () => void;
}) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{advice}</p>
      <div className={styles.text}>
        <code>{text}</code>
        <CopyButton text={text} label={`Copy ${label}`} />
      </div>
      <div className={styles.actions}>
        <Button kind="primary" onPress={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}
