import type { Application } from '@switchyard/contract/applications/applications.ts';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { applicationQuery } from '../../client/applications.ts';
import { client, describeError } from '../../client/client.ts';
import { queryClient } from '../../client/queries.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Notice } from '../../ui/notice.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { isSubscription } from '../../ui/subscriptions/subscription-notice.tsx';
import { useRight } from '../../ui/use-right.ts';

/** Says whether HTML assets of the application run without a click. An administrator changes it, except for a subscription. */
export function HtmlAssetsSection({ application }: { application: Application }) {
  const {
    id,
    html_assets_trusted: isTrusted,
    html_assets_trusted_by: by,
    html_assets_trusted_at: at,
  } = application;
  const mayChange = useRight('account') && !isSubscription(application);
  const [isConfirming, setConfirming] = useState(false);
  const change = useMutation({ mutationFn: (trust: boolean) => setTrust(id, trust) });
  return (
    <section aria-labelledby="html-assets">
      <h2 id="html-assets">HTML assets</h2>
      <p className="soft">
        {isTrusted
          ? 'HTML assets of this application are trusted: they run as soon as someone opens them.'
          : 'HTML assets of this application run after a click, because such a page can send what it shows to its author.'}
        {at && (
          <>
            {' '}
            Trusted by <bdi>{by ?? 'an unknown administrator'}</bdi> <RelativeTime at={at} />.
          </>
        )}
      </p>
      {change.isError && <Notice kind="error">{describeError(change.error)}</Notice>}
      {mayChange &&
        (isTrusted ? (
          <Button onPress={() => change.mutate(false)} isDisabled={change.isPending}>
            Stop trusting HTML assets
          </Button>
        ) : (
          <Button onPress={() => setConfirming(true)}>Trust HTML assets</Button>
        ))}
      {isConfirming && (
        <ConfirmDialog
          title={`Trust the HTML assets of ${id}?`}
          action="Trust HTML assets"
          onClose={() => setConfirming(false)}
          onConfirm={async () => {
            await change.mutateAsync(true);
            setConfirming(false);
          }}
        >
          <p>
            They will run without a click for every member, and can send what they show to their author. Trust
            them only if you know who writes this app. Share links still ask.
          </p>
        </ConfirmDialog>
      )}
    </section>
  );
}

async function setTrust(application: string, trust: boolean): Promise<void> {
  await client.call(trust ? 'trustHtmlAssets' : 'distrustHtmlAssets', {
    params: { application_id: application },
  });
  await queryClient.invalidateQueries(applicationQuery(application));
}
