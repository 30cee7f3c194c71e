import { useMutation } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { describeError } from '../client/client.ts';
import { Button } from './button.tsx';
import styles from './confirm-dialog.module.css';
import { Dialog } from './dialog.tsx';
import { Notice } from './notice.tsx';

export interface ConfirmDialogProps {
  title: string;
  /** Says what is destroyed, and what stays. */
  children: ReactNode;
  /** The word that the person types. */
  word: string;
  /** Label of the button that acts. */
  action: string;
  onConfirm: () => Promise<void>;
  onClose: () => void;
}

/** A dialog before something is destroyed. The button works after the word was typed, and a refusal stays visible. */
export function ConfirmDialog({ title, onClose, ...form }: ConfirmDialogProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <ConfirmForm {...form} onClose={onClose} />
    </Dialog>
  );
}

function ConfirmForm({ children, word, action, onConfirm, onClose }: Omit<ConfirmDialogProps, 'title'>) {
  const [typed, setTyped] = useState('');
  const id = useId();
  const confirmation = useMutation({ mutationFn: onConfirm });
  const isReady = typed.trim() === word && !confirmation.isPending;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady) confirmation.mutate();
  };
  return (
    <form onSubmit={submit} className={styles.form}>
      <div>{children}</div>
      {confirmation.isError && <Notice kind="error">{describeError(confirmation.error)}</Notice>}
      <label htmlFor={id}>
        Type <code>{word}</code> to confirm
      </label>
      <input
        id={id}
        value={typed}
        autoComplete="off"
        spellCheck={false}
        // biome-ignore lint/a11y/noAutofocus: the dialog has one field, which the person opened it for
        autoFocus
        onChange={(event) => setTyped(event.target.value)}
      />
      <div className={styles.actions}>
        <Button onPress={onClose}>Keep</Button>
        <Button kind="danger" type="submit" isDisabled={!isReady}>
          {action}
        </Button>
      </div>
    </form>
  );
}
