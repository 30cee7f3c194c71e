import { useMutation } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { describeError } from '../client/client.ts';
import { resumeWithToken } from '../client/session.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/forms/text-field.tsx';
import { Notice } from '../ui/notice.tsx';

/** Signs in again above the page after the session has ended. The page below keeps what was written in it. */
export function SessionDialog() {
  const [isOpen, setOpen] = useState(true);
  const [token, setToken] = useState('');
  const router = useRouter();
  const signIn = useMutation({
    mutationFn: () => resumeWithToken(token.trim()),
    onSuccess: () => router.invalidate(),
  });
  if (!isOpen) return null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signIn.mutate();
  };
  return (
    <Dialog title="Sign in again" onClose={() => setOpen(false)}>
      <p>Your session has ended. What you wrote on this page is kept.</p>
      <form onSubmit={submit}>
        {signIn.error && <Notice kind="error">{describeError(signIn.error)}</Notice>}
        <TextField label="Token" type="password" value={token} onChange={setToken} autoFocus />
        <p>
          Or{' '}
          <a href="/console/sign-in" target="_blank" rel="noreferrer">
            sign in another way
          </a>{' '}
          in a new tab, and come back.
        </p>
        <Button kind="primary" type="submit" isDisabled={signIn.isPending}>
          Sign in
        </Button>
      </form>
    </Dialog>
  );
}
