import type { Licenses } from '@switchyard/contract/licenses.ts';
import { client } from '../../client/client.ts';
import { queryClient } from '../../client/queries.ts';
import { useEdit } from '../../ui/forms/conflicts/use-edit.ts';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { TextAreaField } from '../../ui/forms/text-field.tsx';
import { formatLicenses, parseLicenses } from './parse-licenses.ts';
import { licensesQuery } from './queries.ts';

interface LicensesDialogProps {
  licenses: Licenses;
  onClose: () => void;
}

/** Sets the licences of the account, one on each line. */
export function LicensesDialog({ licenses, onClose }: LicensesDialogProps) {
  const { draft, change, seen, load } = useEdit({
    resource: licenses,
    fetch: async () => (await client.call('getLicenses')).body,
    createDraft: (state) => ({ text: formatLicenses(state.licenses) }),
    labels: { text: 'Licences' },
  });
  const { text } = draft;
  const parsed = parseLicenses(text);
  const isValid = Array.isArray(parsed);
  const body = { licenses: isValid ? parsed : [] };
  return (
    <FormDialog
      title="Licences"
      action="Save licences"
      missing={!isValid && 'Correct the line'}
      requests={[['setLicenses', { body }]]}
      onClose={onClose}
      onLoad={load}
      onSubmit={async () => {
        await client.call('setLicenses', { body: { ...body, expected_updated_at: seen.updated_at } });
        await queryClient.invalidateQueries(licensesQuery);
        onClose();
      }}
    >
      <TextAreaField
        label="Licences and their tokens"
        value={text}
        onChange={(value) => change({ text: value })}
        help="One on each line, such as gurobi = 4. A licence that you leave out is removed."
        error={isValid ? undefined : `Line ${parsed.invalidLine} is not a new name, = and a whole number.`}
      />
    </FormDialog>
  );
}
