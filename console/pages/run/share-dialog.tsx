import type { Share } from '@switchyard/contract/account/share-links.ts';
import { SHARED_PARTS, type SharedPart } from '@switchyard/contract/account/shared-parts.ts';
import { SHARE_HOURS_DEFAULT } from '@switchyard/contract/limits.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { client, describeError } from '../../client/client.ts';
import { operationQuery, queryClient } from '../../client/queries.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton, copyText } from '../../ui/copy-button.tsx';
import { RevokeShareDialog } from '../../ui/destruction/revoke-share-dialog.tsx';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { SelectField } from '../../ui/forms/text-field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { getRunParams, type RunAddress } from './queries.ts';
import styles from './share-dialog.module.css';

const NAMES: Record<SharedPart, string> = {
  summary: 'Summary',
  indicators: 'Indicators',
  options: 'Options',
  log: 'Log',
  input: 'Input',
  output: 'Output',
  assets: 'Assets',
};
const CHOSEN_FIRST: readonly SharedPart[] = ['summary', 'indicators', 'output', 'assets'];
const VALIDITIES = [
  { value: '24', label: '1 day' },
  { value: String(SHARE_HOURS_DEFAULT), label: '7 days' },
  { value: '720', label: '30 days' },
];

const sharesQuery = (address: RunAddress) => operationQuery('listShares', { params: getRunParams(address) });

/** Creates links to a read-only page of the run, and revokes them. */
export function ShareDialog({ address, onClose }: { address: RunAddress; onClose: () => void }) {
  const [parts, setParts] = useState<readonly SharedPart[]>(CHOSEN_FIRST);
  const [hours, setHours] = useState(String(SHARE_HOURS_DEFAULT));
  const [created, setCreated] = useState<CreatedLink>();
  const request = {
    params: getRunParams(address),
    body: { parts: [...parts], expires_in_hours: Number(hours) },
  };
  const toggle = (part: SharedPart, isChosen: boolean) =>
    setParts(SHARED_PARTS.filter((one) => (one === part ? isChosen : parts.includes(one))));
  return (
    <FormDialog
      title="Share this run"
      action={created ? 'Create another link' : 'Create link'}
      missing={parts.length === 0 && 'Choose a part'}
      requests={[['createShare', request]]}
      onClose={onClose}
      onSubmit={async () => {
        const { url } = (await client.call('createShare', request)).body;
        setCreated({ url, isCopied: await copyText(url) });
        await queryClient.invalidateQueries({ queryKey: sharesQuery(address).queryKey });
      }}
    >
      {created && <NewLink {...created} />}
      <p>Anyone with the link sees the chosen parts of this run, without signing in.</p>
      <fieldset className={styles.parts}>
        <legend>Parts</legend>
        {SHARED_PARTS.map((part) => (
          <label key={part}>
            <input
              type="checkbox"
              checked={parts.includes(part)}
              onChange={(event) => toggle(part, event.target.checked)}
            />
            {NAMES[part]}
          </label>
        ))}
      </fieldset>
      <SelectField label="Works for" value={hours} options={VALIDITIES} onChange={setHours} />
      <ShareList address={address} />
    </FormDialog>
  );
}

interface CreatedLink {
  url: string;
  isCopied: boolean;
}

/** The address of a new link, which is already copied unless the browser refused that. */
function NewLink({ url, isCopied }: CreatedLink) {
  return (
    <div role="status" className={styles.created}>
      <p>{isCopied ? 'The link is copied.' : 'The browser refuses to copy. Copy the link yourself:'}</p>
      <input readOnly value={url} aria-label="New link" onFocus={({ target }) => target.select()} />
      <CopyButton text={url} label="Copy the new link" />
    </div>
  );
}

function ShareList({ address }: { address: RunAddress }) {
  const { data, error } = useQuery(sharesQuery(address));
  const [revoked, setRevoked] = useState<Share>();
  return (
    <>
      {error && <Notice kind="error">{describeError(error)}</Notice>}
      {data && data.items.length > 0 && (
        <ul className={styles.links} aria-label="Links of this run">
          {data.items.map((share) => (
            <li key={share.id}>
              <div>
                {share.parts.map((part) => NAMES[part]).join(', ')}
                <div className="meta">
                  <Views share={share} />, ends <RelativeTime at={share.expires_at} />
                </div>
              </div>
              <CopyButton text={share.url} label="Copy link" />
              <Button kind="quiet" onPress={() => setRevoked(share)}>
                Revoke
              </Button>
            </li>
          ))}
        </ul>
      )}
      {revoked && <RevokeShareDialog {...address} share={revoked} onClose={() => setRevoked(undefined)} />}
    </>
  );
}

function Views({ share: { views, last_viewed_at: at } }: { share: Share }) {
  if (at === null) return 'no view';
  return (
    <>
      {views === 1 ? '1 view' : `${formatNumber(views)} views`}, last <RelativeTime at={at} />
    </>
  );
}
