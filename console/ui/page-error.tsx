import { ApiError } from '@switchyard/contract/client.ts';
import { Icon, type IconName } from '@switchyard/design/icon.tsx';
import { useMutation } from '@tanstack/react-query';
import { useRouter, useRouterState } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { describeError, isForbidden, isNotFound } from '../client/client.ts';
import { queryClient } from '../client/queries.ts';
import { Button } from './button.tsx';
import empty from './empty-state.module.css';
import styles from './page-error.module.css';
import { usePageTitle } from './page-title.ts';
import { PlaceLink } from './place-link.tsx';
import { findPlace } from './places.ts';

const RETRY_S = 10;
const SECOND_MS = 1_000;

interface BrokenPageProps extends Record<'title' | 'children' | 'action', ReactNode> {
  icon: IconName;
  title: string;
}

/** A page that shows no data: what failed in words, why, and what to do. */
export function BrokenPage({ icon, title, children, action }: BrokenPageProps) {
  usePageTitle(title);
  return (
    <div className={`${empty.middle} ${styles.broken}`}>
      <span className={icon === 'bad' ? 'bad' : 'soft'}>
        <Icon name={icon} />
      </span>
      <h1>{title}</h1>
      {children}
      <p className="line">{action}</p>
    </div>
  );
}

/** A page whose data could not be loaded. A missing right stays missing, and a deleted thing deleted; the rest is repeated. */
export function PageError({ error }: { error: unknown }) {
  const path = useRouterState({ select: (state) => state.location.pathname });
  const place = findPlace(path);
  const reason = <p role="alert">{describeError(error)}</p>;
  if (isForbidden(error))
    return (
      <BrokenPage
        icon="key"
        title="Your role cannot open this page"
        action={<PlaceLink place={findPlace('/')} />}
      >
        {reason}
        <p>An administrator of the account can give you another role.</p>
      </BrokenPage>
    );
  if (isNotFound(error))
    return (
      <BrokenPage
        icon="question"
        title={`There is no such ${place.noun}`}
        action={<PlaceLink place={place} />}
      >
        {reason}
        <p>It may have been deleted, or the link is incomplete.</p>
      </BrokenPage>
    );
  return <FailedPage error={error}>{reason}</FailedPage>;
}

/** What failed stands until it works: the page is drawn again when the request of the error has an answer. */
function useReload(error: unknown) {
  const router = useRouter();
  const [failed] = useState(() =>
    queryClient.getQueryCache().findAll({ predicate: ({ state }) => state.error === error }),
  );
  return useMutation({
    mutationFn: async () => {
      await queryClient.refetchQueries({ predicate: (query) => failed.includes(query) });
      if (failed.every(({ state }) => state.status !== 'error')) await router.invalidate();
    },
  });
}

function FailedPage({ error, children }: { error: unknown; children: ReactNode }) {
  const { mutate: reload, isPending } = useReload(error);
  const [seconds, setSeconds] = useState(RETRY_S);
  const isFromServer = error instanceof ApiError;
  useEffect(() => {
    if (isPending) return;
    const timer = setTimeout(() => {
      if (seconds > 1) return setSeconds(seconds - 1);
      setSeconds(RETRY_S);
      return reload();
    }, SECOND_MS);
    return () => clearTimeout(timer);
  }, [seconds, isPending, reload]);
  return (
    <BrokenPage
      icon="bad"
      title="This page could not be loaded"
      action={
        <Button isPending={isPending} onPress={() => reload()}>
          {isPending ? 'Trying again …' : 'Try again'}
        </Button>
      }
    >
      {children}
      <p>
        {isFromServer && 'The server answered, but with an error. Runs go on meanwhile. '}
        <span aria-hidden="true">
          {isPending ? 'This page tries again now.' : `This page tries again in ${seconds} s.`}
        </span>
      </p>
      {isFromServer && (
        <details className="meta">
          <summary>Details for support</summary>
          <code>
            {error.operation}, status {error.status}, {new Date().toISOString()}
          </code>
        </details>
      )}
    </BrokenPage>
  );
}
