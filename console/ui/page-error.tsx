import { useRouter } from '@tanstack/react-router';
import { describeError, isForbidden } from '../client/client.ts';
import { Button } from './button.tsx';
import { Notice } from './notice.tsx';
import styles from './page-error.module.css';
import { PageHeader } from './page-header.tsx';

/** A page whose data could not be loaded, with the reason and a way to repeat. A missing right stays missing. */
export function PageError({ error }: { error: unknown }) {
  const router = useRouter();
  if (isForbidden(error))
    return (
      <>
        <PageHeader title="Your role cannot open this page" />
        <Notice kind="warning">{describeError(error)}</Notice>
      </>
    );
  return (
    <>
      <PageHeader title="This page could not be loaded" />
      <Notice kind="error">{describeError(error)}</Notice>
      <p className={styles.retry}>
        <Button onPress={() => router.invalidate()}>Try again</Button>
      </p>
    </>
  );
}
