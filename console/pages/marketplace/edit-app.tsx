import type { MarketplaceApp } from '@switchyard/contract/marketplace/marketplace-apps.ts';
import { useState } from 'react';
import { client } from '../../client/client.ts';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { AppFields, formatAppTexts } from './app-fields.tsx';
import { readAppParams, refreshApps } from './queries.ts';

/** Changes the texts of an app. */
export function EditApp({ app, onClose }: { app: MarketplaceApp; onClose: () => void }) {
  const [draft, setDraft] = useState({
    title: app.title,
    description: app.description,
    categories: app.categories.join(', '),
    features: app.features.join(', '),
  });
  const request = {
    params: readAppParams({ partner: app.partner_id, app: app.id }),
    body: formatAppTexts(draft),
  };
  return (
    <FormDialog
      title={`Edit ${app.id}`}
      action="Save"
      isReady={request.body.title !== ''}
      requests={[['updateMarketplaceApp', request]]}
      onClose={onClose}
      onSubmit={async () => {
        await client.call('updateMarketplaceApp', request);
        await refreshApps();
        onClose();
      }}
    >
      <AppFields draft={draft} onChange={setDraft} />
    </FormDialog>
  );
}
