import { useRouter } from '@tanstack/react-router';
import { describeError } from '../client/client.ts';
import { Button } from './button.tsx';
import { Notice } from './notice.tsx';
import { PageHeader } from './page-header.tsx';

/** A page whose data could not be loaded, with the reason and a way to repeat. */
export function PageError({ error }: { error: unknown }) {
  const router = useRouter();
  return (
    <>
      <PageHeader title="This page could not be loaded" />
      <Notice kind="error">{describeError(error)}</Notice>
      <p>
        <Button onPress={() => router.invalidate()}>Try again</Button>
      </p>
    </>
  );
}
