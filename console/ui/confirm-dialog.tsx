import { useMutation } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { Button } from './button.tsx';
import styles from './confirm-dialog.module.css';
import { Dialog } from './dialog.tsx';
import type { FieldChange } from './forms/conflicts/merge-drafts.ts';
import { SendError } from './forms/conflicts/send-error.tsx';

export interface ConfirmDialogProps {
  title: string;
  /** Says what is destroyed, and what stays. */
  children: ReactNode;
  /** The word that the person types; absent where the loss is small, such as that of a session. */
  word?: string;
  /** Label of the button that acts. */
  action: string;
  onConfirm: () => Promise<void>;
  /** Reads the present state of a resource that somebody else has changed. */
  onLoad?: () => Promise<FieldChange[]>;
  onClose: () => void;
}

/**
 * A dialog before something is destroyed. With a word the button works after it was typed. The focus begins at the button
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
    <form onSubmit={submit} className={styles.form}>
      <div>{children}</div>
      <SendError sending={confirmation} onLoad={onLoad} />
      {word !== undefined && <WordField word={word} value={typed} onChange={setTyped} />}
      <div className={styles.actions}>
        <Button onPress={onClose} autoFocus={word === undefined}>
          Keep
        </Button>
        <Button kind="destroy" type="submit" isDisabled={!isReady}>
          {action}
        </Button>
      </div>
    </form>
  );
}

function WordField({
  word,
  value,
  onChange,
}: {
  word: string;
  value: string;
  onChange: (value: string) => void;
}) {
  const id = useId();
  return (
    <>
      <label htmlFor={id}>
        Type <code>{word}</code> to confirm
      </label>
      <input
        id={id}
        value={value}
        autoComplete="off"
        spellCheck={false}
        // biome-ignore lint/a11y/noAutofocus: the dialog has one field, which the person opened it for
        autoFocus
        onChange={(event) => onChange(event.target.value)}
      />
    </>
  );
}
