import type { AuditEntry } from '@switchyard/contract/account/audit.ts';
import { useMutation } from '@tanstack/react-query';
import { client, describeError } from '../../client/client.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Notice } from '../../ui/notice.tsx';
import styles from './audit-page.module.css';
import { findBrokenEntries } from './verify-entries.ts';

/** Computes the hashes of the listed entries again in the browser, and shows the head of the chain. */
export function VerifyButton({ entries }: { entries: readonly AuditEntry[] }) {
  const verification = useMutation({
    mutationFn: async () => {
      if (!globalThis.crypto?.subtle)
        throw new Error('Browsers compute hashes only over https or on localhost. Open the console there.');
      const broken = await findBrokenEntries(entries);
      const { body: head } = await client.call('getAuditHead');
      return { broken, head };
    },
  });
  return (
    <>
      <Button onPress={() => verification.mutate()}>Verify</Button>
      <div className={styles.verification}>
        {verification.isError && <Notice kind="error">{describeError(verification.error)}</Notice>}
        {verification.data && <Verification {...verification.data} />}
      </div>
    </>
  );
}

function Verification({ broken, head }: { broken: number[]; head: { number: number; hash: string } }) {
  if (broken.length > 0)
    return <Notice kind="error">These entries differ from their hashes: {broken.join(', ')}.</Notice>;
  const anchor = `${head.number}:${head.hash}`;
  return (
    <Notice kind="success">
      The listed entries match their hashes. Store the head outside the server: <code>{anchor}</code>{' '}
      <CopyButton text={anchor} label="Copy the head" />
    </Notice>
  );
}
