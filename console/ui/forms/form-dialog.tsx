import { useMutation } from '@tanstack/react-query';
import type { FormEvent, ReactNode } from 'react';
import { Button } from '../button.tsx';
import { CopyButton } from '../copy-button.tsx';
import { Dialog } from '../dialog.tsx';
import { UploadProgress } from '../upload/upload-progress.tsx';
import type { FormUpload } from '../upload/use-upload.ts';
import { formatCommand } from './command-line.ts';
import type { FieldChange } from './conflicts/merge-drafts.ts';
import { SendError } from './conflicts/send-error.tsx';
import { type FormRequest, formatCurl } from './curl.ts';
import styles from './form-dialog.module.css';
import { formatPython } from './python.ts';

export interface FormDialogProps {
  title: string;
  /** The fields of the form. */
  children: ReactNode;
  /** Label of the button that sends the form. */
  action: string;
  /** What is still to do before the form can be sent, as the label of the button; false or absent for nothing. */
  missing?: string | false;
  /** The requests that the form sends, in order. They are copied as commands and as a Python program. */
  requests: readonly FormRequest[];
  /** The upload of a form that sends files. */
  upload?: FormUpload;
  /** Sends the form. The dialog shows its error and stays open. */
  onSubmit: () => Promise<void>;
  /** Reads the present state into a form that changes a resource, after somebody else has changed it. */
  onLoad?: (() => Promise<FieldChange[]>) | undefined;
  onClose: () => void;
}

/** A form in a dialog, with the same requests as commands and as a Python program. */
export function FormDialog({
  title,
  children,
  action,
  missing,
  requests,
  upload,
  onSubmit,
  onLoad,
  onClose,
}: FormDialogProps) {
  const sending = useMutation({ mutationFn: onSubmit });
  const isUploading = Boolean(upload?.state);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (missing) focusMissing(event.currentTarget);
    else if (!sending.isPending) sending.mutate();
  };
  return (
    <Dialog title={title} isWorking={isUploading} onClose={onClose}>
      <form onSubmit={submit} className={styles.form}>
        <SendError sending={sending} onLoad={onLoad} />
        {children}
        {upload && <UploadProgress upload={upload} />}
        <div className={`line ${styles.foot}`}>
          <span className={styles.curl}>
            <span aria-hidden="true">CLI</span>{' '}
            <CopyButton text={requests.map(formatCommand).join('\n')} label="Copy as CLI" />{' '}
            <span aria-hidden="true">curl</span>{' '}
            <CopyButton
              text={requests.map(([id, request]) => formatCurl(id, request)).join('\n')}
              label="Copy as curl"
            />{' '}
            <span aria-hidden="true">Python</span>{' '}
            <CopyButton text={formatPython(...requests)} label="Copy as Python" />
          </span>
          <span className={styles.buttons}>
            <Button onPress={onClose} isDisabled={isUploading}>
              Close
            </Button>
            <Button kind="primary" type="submit" isPending={sending.isPending}>
              {missing || action}
            </Button>
          </span>
        </div>
      </form>
    </Dialog>
  );
}

/** Moves the focus to the first field whose value is wrong, or else to the first without one. */
export function focusMissing(form: HTMLFormElement): void {
  const isEmpty = (field: Element) => 'value' in field && field.value === '';
  const fields = [...form.querySelectorAll<HTMLElement>('input, select, textarea')];
  const isWrong = (field: Element) => field.getAttribute('aria-invalid') === 'true';
  (fields.find(isWrong) ?? fields.find(isEmpty) ?? fields[0])?.focus();
}
