import { useMutation } from '@tanstack/react-query';
import { useLoaderData } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { recallNextPage, signInWithCallback } from '../../client/single-sign-on.ts';
import { LinkButton } from '../../ui/button.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { SignInCard } from './sign-in-card.tsx';
import { useOpenConsole } from './use-open-console.ts';

/** Signs in with the code that the identity provider sent in the address. */
export function CallbackPage() {
  usePageTitle('Sign in');
  const query = useLoaderData({ from: '/sign-in/callback' });
  const openConsole = useOpenConsole();
  const signIn = useMutation({
    mutationFn: () => signInWithCallback(query),
    onSuccess: () => openConsole(recallNextPage()),
  });
  // A code works once, and React runs effects twice while developing.
  const hasStarted = useRef(false);
  useEffect(() => {
    if (hasStarted.current) return;
    hasStarted.current = true;
    signIn.mutate();
  }, [signIn.mutate]);

  if (!signIn.isError)
    return (
      <SignInCard>
        <p role="status">Signing in …</p>
      </SignInCard>
    );
  return (
    <SignInCard error={signIn.error}>
      <LinkButton to="/sign-in" replace>
        Back to the sign-in
      </LinkButton>
    </SignInCard>
  );
}
