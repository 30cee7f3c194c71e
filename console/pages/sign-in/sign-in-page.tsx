import { useMutation, useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { signInWithTicket, signInWithToken } from '../../client/session.ts';
import { leaveForProvider, singleSignOnQuery } from '../../client/single-sign-on.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { SignInCard } from './sign-in-card.tsx';
import styles from './sign-in-page.module.css';
import { useOpenConsole } from './use-open-console.ts';

/** Signs in with the ticket of the address, at the identity provider, or with a token that the reader pastes. */
export function SignInPage() {
  usePageTitle('Sign in');
  const { ticket, next = '/' } = useSearch({ from: '/sign-in' });
  const openConsole = useOpenConsole();
  const signIn = useMutation({
    mutationFn: (credential: { ticket: string } | { token: string }) =>
      'ticket' in credential ? signInWithTicket(credential.ticket) : signInWithToken(credential.token),
    onSuccess: () => openConsole(next),
  });
  // A ticket works once, and React runs effects twice while developing.
  const usedTicket = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (ticket === undefined || usedTicket.current === ticket) return;
    usedTicket.current = ticket;
    signIn.mutate({ ticket });
  }, [ticket, signIn.mutate]);
  const leave = useMutation({ mutationFn: () => leaveForProvider(next) });
  const { data: singleSignOn } = useQuery(singleSignOnQuery);

  if (ticket !== undefined && !signIn.isError)
    return (
      <SignInCard>
        <p role="status">Signing in …</p>
      </SignInCard>
    );
  return (
    <SignInCard error={signIn.error ?? leave.error}>
      {singleSignOn?.enabled && (
        <>
          <Button
            kind="primary"
            isDisabled={leave.isPending || leave.isSuccess}
            onPress={() => leave.mutate()}
          >
            {leave.isPending || leave.isSuccess ? 'Opening …' : `Continue with ${singleSignOn.provider}`}
          </Button>
          <p className={styles.divider}>or</p>
        </>
      )}
      <TokenForm
        isBusy={signIn.isPending}
        isSecondary={singleSignOn?.enabled === true}
        onSubmit={(token) => signIn.mutate({ token })}
      />
    </SignInCard>
  );
}

interface TokenFormProps {
  isBusy: boolean;
  /** true: the page has a better way to sign in. */
  isSecondary: boolean;
  onSubmit: (token: string) => void;
}

function TokenForm({ isBusy, isSecondary, onSubmit }: TokenFormProps) {
  const [token, setToken] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (token.trim() !== '') onSubmit(token.trim());
  };
  return (
    <form onSubmit={submit} className={styles.form}>
      <TextField
        label="API token"
        type="password"
        help={
          <>
            On the server, <code>npm start</code> prints a link that works without one.
          </>
        }
        value={token}
        onChange={setToken}
        autoFocus={!isSecondary}
      />
      <Button kind={isSecondary ? 'plain' : 'primary'} type="submit" isDisabled={isBusy}>
        {isBusy ? 'Signing in …' : 'Sign in with a token'}
      </Button>
    </form>
  );
}
