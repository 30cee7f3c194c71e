import { useMutation } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { Button } from './button.tsx';
import styles from './confirm-dialog.module.css';
import { Dialog } from './dialog.tsx';
import type { FieldChange } from './forms/conflicts/merge-drafts.ts';
import { SendError } from './forms/conflicts/send-error.tsx';
import { TextField } from './forms/text-field.tsx';

export interface ConfirmDialogProps {
  title: string;
  /** Says what is destroyed, and what stays. */
  children: ReactNode;
  /** The word that the person types; absent where the loss is small, such as that of a session. */
  word?: string;
  /** Label of the button that acts. */
  action: string;
  /** The action destroys nothing: its button is not red. */
  isHarmless?: boolean;
  onConfirm: () => Promise<void>;
  /** Reads the present state of a resource that somebody else has changed. */
  onLoad?: () => Promise<FieldChange[]>;
  onClose: () => void;
}

/**
 * A dialog before something is destroyed or has other effects that a person should know. With a word the button works after it was typed. The focus begins at the button
 * that changes nothing, and a refusal stays visible.
 */
export function ConfirmDialog({ title, onClose, ...form }: ConfirmDialogProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <ConfirmForm {...form} onClose={onClose} />
    </Dialog>
  );
}

function ConfirmForm({
  children,
  word,
  action,
  isHarmless = false,
  onConfirm,
  onLoad,
  onClose,
}: Omit<ConfirmDialogProps, 'title'>) {
  const [typed, setTyped] = useState('');
  const confirmation = useMutation({ mutationFn: onConfirm });
  const isReady = (word === undefined || typed.trim() === word) && !confirmation.isPending;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // React passes the event on to the form of a dialog that opened this one.
    event.stopPropagation();
    if (isReady) confirmation.mutate();
  };
  return (
    <form onSubmit={submit} className="anywhere">
      <div>{children}</div>
      <SendError sending={confirmation} onLoad={onLoad} />
      {word !== undefined && (
        <TextField label={`Type ${word} to confirm`} value={typed} onChange={setTyped} autoFocus />
      )}
      <div className={styles.actions}>
        <Button onPress={onClose} autoFocus={word === undefined}>
          Keep
        </Button>
        <Button kind={isHarmless ? 'primary' : 'destroy'} type="submit" isDisabled={!isReady}>
          {action}
        </Button>
      </div>
    </form>
  );
}
