import { useState } from 'react';
import { client } from '../../client/client.ts';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { TextAreaField } from '../../ui/forms/text-field.tsx';
import { splitChanges } from './app-fields.tsx';
import { type AppParams, refreshApps } from './queries.ts';

interface EditChangeLogProps {
  params: AppParams;
  version: { id: string; change_log: readonly string[] };
  onClose: () => void;
}

/** Replaces the change log of a published version. */
export function EditChangeLog({ params, version, onClose }: EditChangeLogProps) {
  const [changes, setChanges] = useState(version.change_log.join('\n'));
  const request = {
    params: { ...params, marketplace_version_id: version.id },
    body: { change_log: splitChanges(changes) },
  };
  return (
    <FormDialog
      title={`Change log of ${version.id}`}
      action="Save"
      isReady
      requests={[['updateMarketplaceVersion', request]]}
      onClose={onClose}
      onSubmit={async () => {
        await client.call('updateMarketplaceVersion', request);
        await refreshApps();
        onClose();
      }}
    >
      <p>The program of a published version never changes.</p>
      <TextAreaField label="Change log" help="One change a line." value={changes} onChange={setChanges} />
    </FormDialog>
  );
}
