import { useMutation } from '@tanstack/react-query';
import type { FormEvent, ReactNode } from 'react';
import { describeError } from '../../client/client.ts';
import { Button } from '../button.tsx';
import { CopyButton } from '../copy-button.tsx';
import { Dialog } from '../dialog.tsx';
import { Notice } from '../notice.tsx';
import styles from './form-dialog.module.css';

export interface FormDialogProps {
  title: string;
  /** The fields of the form. */
  children: ReactNode;
  /** Label of the button that sends the form. */
  action: string;
  /** true when every required field has a value. */
  isReady: boolean;
  /** The command that sends the same request from a terminal. */
  curl: string;
  /** Sends the form. The dialog shows its error and stays open. */
  onSubmit: () => Promise<void>;
  onClose: () => void;
}

/** A form in a dialog, with the command that does the same in a terminal. */
export function FormDialog({ title, children, action, isReady, curl, onSubmit, onClose }: FormDialogProps) {
  const sending = useMutation({ mutationFn: onSubmit });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady && !sending.isPending) sending.mutate();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit} className={styles.form}>
        {sending.isError && <Notice kind="error">{describeError(sending.error)}</Notice>}
        {children}
        <div className={styles.actions}>
          <span className={styles.curl}>
            <span aria-hidden="true">Copy as curl</span> <CopyButton text={curl} label="Copy as curl" />
          </span>
          <Button onPress={onClose}>Close</Button>
          <Button kind="primary" type="submit" isDisabled={!isReady || sending.isPending}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
