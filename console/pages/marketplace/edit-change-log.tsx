import { client } from '../../client/client.ts';
import { useEdit } from '../../ui/forms/conflicts/use-edit.ts';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { TextAreaField } from '../../ui/forms/text-field.tsx';
import { splitChanges } from './app-fields.tsx';
import { type AppParams, refreshApps } from './queries.ts';

interface EditChangeLogProps {
  params: AppParams;
  version: { id: string; change_log: readonly string[]; updated_at: string };
  onClose: () => void;
}

/** Replaces the change log of a published version. */
export function EditChangeLog({ params, version, onClose }: EditChangeLogProps) {
  const versionParams = { ...params, marketplace_version_id: version.id };
  const { draft, change, seen, load } = useEdit<EditChangeLogProps['version'], { changes: string }>({
    resource: version,
    fetch: async () => (await client.call('getMarketplaceVersion', { params: versionParams })).body,
    createDraft: ({ change_log }) => ({ changes: change_log.join('\n') }),
    labels: { changes: 'Change log' },
  });
  const { changes } = draft;
  const request = {
    params: versionParams,
    body: { change_log: splitChanges(changes) },
  };
  return (
    <FormDialog
      title={`Change log of ${version.id}`}
      action="Save"
      requests={[['updateMarketplaceVersion', request]]}
      onClose={onClose}
      onLoad={load}
      onSubmit={async () => {
        const body = { ...request.body, expected_updated_at: seen.updated_at };
        await client.call('updateMarketplaceVersion', { params: versionParams, body });
        await refreshApps();
        onClose();
      }}
    >
      <p>The program of a published version never changes.</p>
      <TextAreaField
        label="Change log"
        help="One change a line."
        value={changes}
        onChange={(text) => change({ changes: text })}
      />
    </FormDialog>
  );
}
