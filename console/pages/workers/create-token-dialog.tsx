import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { applicationsQuery } from '../../client/applications.ts';
import { client } from '../../client/client.ts';
import { queryClient } from '../../client/queries.ts';
import { CheckboxList } from '../../ui/forms/checkbox-list.tsx';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { splitWords } from '../../ui/forms/split-text.ts';
import { SelectField, TextField } from '../../ui/forms/text-field.tsx';
import { useRight } from '../../ui/use-right.ts';
import { workerTokensQuery } from './queries.ts';

/** The runs that workers with the token execute. */
type Scope = 'account' | 'applications' | 'server';

const SCOPES: readonly { value: Scope; label: string }[] = [
  { value: 'account', label: 'all applications of this account' },
  { value: 'applications', label: 'chosen applications' },
  { value: 'server', label: 'all accounts of this server' },
];

/** Asks for the name and the scope of a new worker token, and creates it. `onCreate` gets its text. */
export function CreateTokenDialog({
  onClose,
  onCreate,
}: {
  onClose: () => void;
  onCreate: (token: string) => void;
}) {
  const managesServer = useRight('server');
  const [name, setName] = useState('');
  const [scope, setScope] = useState<Scope>('account');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [labels, setLabels] = useState('');
  const offered = splitWords(labels);
  const body = {
    name: name.trim(),
    ...(scope === 'applications' && { applications: [...chosen] }),
    ...(scope === 'server' && { all_accounts: true }),
    ...(offered.length > 0 && { labels: offered }),
  };
  return (
    <FormDialog
      title="New worker token"
      action="Create worker token"
      missing={
        (body.name === '' && 'Give a name') ||
        (scope === 'applications' && chosen.size === 0 && 'Choose an application')
      }
      requests={[['createWorkerToken', { body }]]}
      onClose={onClose}
      onSubmit={async () => {
        const created = await client.call('createWorkerToken', { body });
        await queryClient.invalidateQueries(workerTokensQuery);
        onCreate(created.body.token);
      }}
    >
      <TextField
        label="Name"
        help="Such as the name of the machines. Revoke the token to remove all of its workers."
        value={name}
        onChange={setName}
        autoFocus
      />
      <SelectField
        label="Executes runs of"
        help="A worker sees the code, the inputs and the secrets of these runs."
        value={scope}
        options={SCOPES.filter(({ value }) => value !== 'server' || managesServer)}
        onChange={(value) => setScope(SCOPES.find((one) => one.value === value)?.value ?? scope)}
      />
      {scope === 'applications' && <ApplicationChoices chosen={chosen} onChange={setChosen} />}
      <TextField
        label="Labels (optional)"
        help="The labels that its workers may offer, such as gpu, region=eu. Without an entry they may offer any."
        value={labels}
        onChange={setLabels}
      />
    </FormDialog>
  );
}

/** Check boxes of the applications of the account. */
function ApplicationChoices({
  chosen,
  onChange,
}: {
  chosen: ReadonlySet<string>;
  onChange: (chosen: ReadonlySet<string>) => void;
}) {
  const { data: applications = [], isSuccess } = useQuery(applicationsQuery);
  return (
    <CheckboxList title="Applications" choices={applications} chosen={chosen} onChange={onChange}>
      {isSuccess && applications.length === 0 && <p>The account has no application yet.</p>}
    </CheckboxList>
  );
}
