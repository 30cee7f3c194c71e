import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { describeError } from '../../client/client.ts';
import { operationQuery } from '../../client/queries.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { DeviceDecision } from './device-decision.tsx';
import styles from './device-page.module.css';

/** Signs a program in that shows a code: the person enters the code, reads who asks, and decides. */
export function DevicePage() {
  usePageTitle('Sign in a program');
  const { user_code = '' } = useSearch({ from: '/signed-in/device' });
  const { data, error } = useQuery({
    ...operationQuery('getDeviceAuthorization', { query: { user_code } }),
    enabled: user_code !== '',
  });
  return (
    <>
      <PageHeader
        title="Sign in a program"
        description="A program such as the command line shows a code of eight letters. Enter it here to create a key for the program."
      />
      <div className={styles.column}>
        {user_code !== '' && error && <Notice kind="error">{describeError(error)}</Notice>}
        {data ? (
          <DeviceDecision key={data.id} code={user_code} request={data} />
        ) : (
          <CodeForm key={user_code} initial={user_code} />
        )}
      </div>
    </>
  );
}

function CodeForm({ initial }: { initial: string }) {
  const [code, setCode] = useState(initial);
  const navigate = useNavigate();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (code.trim() !== '') void navigate({ to: '/device', search: { user_code: code.trim() } });
  };
  return (
    <form onSubmit={submit} className={styles.form}>
      <TextField label="Code" help="For example WDJB-MJHT" value={code} onChange={setCode} autoFocus />
      <div>
        <Button kind="primary" type="submit">
          Continue
        </Button>
      </div>
    </form>
  );
}
