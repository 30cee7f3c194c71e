import { Logo } from '@switchyard/design/logo.tsx';
import { useMutation } from '@tanstack/react-query';
import { useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { type FormEvent, useEffect, useId, useRef, useState } from 'react';
import { describeError } from '../../client/client.ts';
import { signInWithTicket, signInWithToken } from '../../client/session.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import styles from './sign-in-page.module.css';

/** Signs in with the ticket of the address, or with a token that the reader pastes. */
export function SignInPage() {
  usePageTitle('Sign in');
  const { ticket, next } = useSearch({ from: '/sign-in' });
  const openConsole = useOpenConsole(next);
  const signIn = useMutation({
    mutationFn: (credential: { ticket: string } | { token: string }) =>
      'ticket' in credential ? signInWithTicket(credential.ticket) : signInWithToken(credential.token),
    onSuccess: openConsole,
  });
  // A ticket works once, and React runs effects twice while developing.
  const usedTicket = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (ticket === undefined || usedTicket.current === ticket) return;
    usedTicket.current = ticket;
    signIn.mutate({ ticket });
  }, [ticket, signIn.mutate]);

  if (ticket !== undefined && !signIn.isError) return <main className={styles.page}>Signing in …</main>;
  return (
    <main className={styles.page}>
      <div className={styles.card}>
        <div className={styles.brand}>
          <Logo />
          <span>Switchyard</span>
        </div>
        <h1>Sign in</h1>
        {signIn.isError && <Notice kind="error">{describeError(signIn.error)}</Notice>}
        <TokenForm isBusy={signIn.isPending} onSubmit={(token) => signIn.mutate({ token })} />
        <p className={styles.hint}>
          On the server, <code>npm start</code> prints a link that signs you in without a token.
        </p>
      </div>
    </main>
  );
}

/** Returns the function that leaves the sign-in page. It follows only addresses inside the console. */
function useOpenConsole(next = '/'): () => Promise<void> {
  const navigate = useNavigate();
  const router = useRouter();
  return async () => {
    await router.invalidate();
    const isInside = next.startsWith('/') && !next.startsWith('//') && !next.startsWith('/\\');
    if (!isInside || next === '/') return navigate({ to: '/', replace: true });
    router.history.replace(`/console${next}`);
  };
}

function TokenForm({ isBusy, onSubmit }: { isBusy: boolean; onSubmit: (token: string) => void }) {
  const [token, setToken] = useState('');
  const id = useId();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (token.trim() !== '') onSubmit(token.trim());
  };
  return (
    <form onSubmit={submit} className={styles.form}>
      <label htmlFor={id}>API token</label>
      <input
        id={id}
        type="password"
        autoComplete="off"
        spellCheck={false}
        value={token}
        onChange={(event) => setToken(event.target.value)}
      />
      <Button kind="primary" type="submit" isDisabled={isBusy || token.trim() === ''}>
        {isBusy ? 'Signing in …' : 'Sign in'}
      </Button>
    </form>
  );
}
