import { describeError, isSignedOut } from '../../client/client.ts';
import { Notice } from '../notice.tsx';

/** The person has ended the upload. */
export class UploadCanceledError extends Error {
  constructor() {
    super('Upload canceled. When you send the same file again, it continues where it stopped.');
  }
}

/** The error of a form. An upload that a person canceled is none, and after an ended session the form works again. */
export function UploadError({ error }: { error: unknown }) {
  const kind = error instanceof UploadCanceledError ? 'info' : isSignedOut(error) ? 'warning' : 'error';
  return <Notice kind={kind}>{describeError(error)}</Notice>;
}
