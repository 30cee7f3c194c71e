import type { MarketplaceApp } from '@switchyard/contract/marketplace/marketplace-apps.ts';
import { client } from '../../client/client.ts';
import { useEdit } from '../../ui/forms/conflicts/use-edit.ts';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { AppFields, formatAppTexts } from './app-fields.tsx';
import { readAppParams, refreshApps } from './queries.ts';

/** Changes the texts of an app. */
export function EditApp({ app, onClose }: { app: MarketplaceApp; onClose: () => void }) {
  const params = readAppParams({ partner: app.partner_id, app: app.id });
  const { draft, change, seen, load } = useEdit({
    resource: app,
    fetch: async () => (await client.call('getMarketplaceApp', { params })).body,
    createDraft: ({ title, description, categories, features }) => ({
      ...{ title, description },
      categories: categories.join(', '),
      features: features.join(', '),
    }),
    labels: { title: 'Title', description: 'Description', categories: 'Categories', features: 'Features' },
  });
  const request = {
    params,
    body: formatAppTexts(draft),
  };
  return (
    <FormDialog
      title={`Edit ${app.id}`}
      action="Save"
      missing={request.body.title === '' && 'Give a title'}
      requests={[['updateMarketplaceApp', request]]}
      onClose={onClose}
      onLoad={load}
      onSubmit={async () => {
        const body = { ...request.body, expected_updated_at: seen.updated_at };
        await client.call('updateMarketplaceApp', { params, body });
        await refreshApps();
        onClose();
      }}
    >
      <AppFields draft={draft} onChange={change} />
    </FormDialog>
  );
}
