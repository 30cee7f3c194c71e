import type { MarketplaceApp } from '@switchyard/contract/marketplace/marketplace-apps.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { versionsQuery } from '../../client/applications.ts';
import { client } from '../../client/client.ts';
import { listItems } from '../../client/list-items.ts';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { SelectField, TextAreaField, TextField } from '../../ui/forms/text-field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { splitChanges } from './app-fields.tsx';
import { readAppParams, refreshApps } from './queries.ts';

interface PublishVersionProps {
  app: MarketplaceApp;
  /** The published application. */
  application: string;
  onClose: () => void;
}

/** Publishes a version of the application to the subscribers. */
export function PublishVersion({ app, application, onClose }: PublishVersionProps) {
  const { data } = useSuspenseQuery(versionsQuery(application));
  const versions = listItems(data);
  const [version, setVersion] = useState(versions[0]?.id ?? '');
  const [id, setId] = useState('');
  const [changes, setChanges] = useState('');
  const request = {
    params: readAppParams({ partner: app.partner_id, app: app.id }),
    body: {
      id: id.trim(),
      ref_app_version_id: version,
      change_log: splitChanges(changes),
    },
  };
  return (
    <FormDialog
      title={`Publish a version of ${app.id}`}
      action="Publish version"
      missing={(version === '' && 'Choose a version') || (request.body.id === '' && 'Give an id')}
      requests={[['createMarketplaceVersion', request]]}
      onClose={onClose}
      onSubmit={async () => {
        await client.call('createMarketplaceVersion', request);
        await refreshApps();
        onClose();
      }}
    >
      {versions.length === 0 && (
        <Notice kind="warning">
          The application has no version. Create one on the page of the application first.
        </Notice>
      )}
      <p>
        Every subscriber gets the version at once, and <code>latest</code> runs it. A published version cannot
        be deleted.
      </p>
      <SelectField
        label="Version of the application"
        value={version}
        options={versions.map(({ id: value, name }) => ({
          value,
          label: name === value ? value : `${name} (${value})`,
        }))}
        onChange={setVersion}
      />
      <TextField label="Id" help="Subscribers see this id. It never changes." value={id} onChange={setId} />
      <TextAreaField label="Change log" help="One change a line." value={changes} onChange={setChanges} />
    </FormDialog>
  );
}
