import { useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { applicationsQuery } from '../../client/applications.ts';
import { client } from '../../client/client.ts';
import { accountQuery } from '../../client/session.ts';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { SelectField, TextField } from '../../ui/forms/text-field.tsx';
import { isSubscription } from '../../ui/subscriptions/subscription-notice.tsx';
import { AppFields, formatAppTexts } from './app-fields.tsx';
import { refreshApps } from './queries.ts';

const EMPTY = { title: '', description: '', categories: '', features: '' };

/** Publishes an application of the account in the state `pre-release`, and opens its page. */
export function PublishApp({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const { data: account } = useSuspenseQuery(accountQuery);
  const { data: applications } = useSuspenseQuery(applicationsQuery);
  const own = applications.filter((application) => !isSubscription(application));
  const [application, setApplication] = useState('');
  const [id, setId] = useState('');
  const [draft, setDraft] = useState(EMPTY);
  const params = { partner_id: account.id };
  const body = {
    id: id.trim(),
    ref_app_id: application,
    ...formatAppTexts(draft),
  };
  const choose = (chosen: string) => {
    setApplication(chosen);
    setId(chosen);
    setDraft({ ...draft, title: own.find((one) => one.id === chosen)?.name ?? '' });
  };
  return (
    <FormDialog
      title="Publish an application"
      action="Publish application"
      missing={
        (application === '' && 'Choose an application') ||
        (body.id === '' && 'Give an id') ||
        (body.title === '' && 'Give a title')
      }
      requests={[['createMarketplaceApp', { params, body }]]}
      onClose={onClose}
      onSubmit={async () => {
        await client.call('createMarketplaceApp', { params, body });
        await refreshApps();
        await navigate({
          to: '/marketplace/$partner/$app',
          params: { partner: account.id, app: body.id },
        });
      }}
    >
      <p>Only your account sees the app until you publish a version and release it.</p>
      <SelectField
        label="Application"
        value={application}
        options={[
          { value: '', label: 'Choose an application' },
          ...own.map(({ id: value, name }) => ({
            value,
            label: name === value ? value : `${name} (${value})`,
          })),
        ]}
        onChange={choose}
      />
      <TextField
        label="Id"
        help="Subscribers get an application with this id. It never changes."
        value={id}
        onChange={setId}
      />
      <AppFields draft={draft} onChange={setDraft} />
    </FormDialog>
  );
}
