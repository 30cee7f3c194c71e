import { useMutation, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { versionsQuery } from '../../client/applications.ts';
import { client, describeError } from '../../client/client.ts';
import { listItems } from '../../client/list-items.ts';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { formatCurl } from '../../ui/forms/curl.ts';
import { focusMissing } from '../../ui/forms/form-dialog.tsx';
import { RequestCode } from '../../ui/forms/request-code.tsx';
import { RoleNotice } from '../../ui/forms/role-notice.tsx';
import { findSecondsError } from '../../ui/forms/seconds/parse-seconds.ts';
import { Notice } from '../../ui/notice.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { useRight } from '../../ui/use-right.ts';
import { buildCreation, createEmptyDraft } from './draft.ts';
import { InstanceFields } from './instance-fields.tsx';
import styles from './instance-page.module.css';
import { refreshInstances } from './queries.ts';

const route = getRouteApi('/signed-in/apps/$application/new-instance');

/** The form of a new instance. An application without a version shows how to create one. */
export function NewInstancePage() {
  const { application } = route.useParams();
  usePageTitle('New instance', application);
  const { data } = useSuspenseQuery(versionsQuery(application));
  const { version } = route.useSearch();
  const [newest] = listItems(data);
  return (
    <>
      <PageHeader title="New instance" />
      {newest ? (
        <NewInstanceForm application={application} version={version ?? newest.id} />
      ) : (
        <EmptyState
          title="No version yet"
          command={formatCurl('createVersion', {
            params: { application_id: application },
            body: { id: 'v1' },
          })}
        >
          <p>An instance runs a version. Create one from the active executable first.</p>
        </EmptyState>
      )}
    </>
  );
}

function NewInstanceForm({ application, version }: { application: string; version: string }) {
  const navigate = route.useNavigate();
  const canWrite = useRight('write');
  const [draft, setDraft] = useState(() => createEmptyDraft(version));
  const request = { params: { application_id: application }, body: buildCreation(draft) };
  const creation = useMutation({
    mutationFn: () => client.call('createInstance', request),
    onSuccess: async ({ body }) => {
      await refreshInstances();
      await navigate({
        to: '/apps/$application/instances/$instance',
        params: { application, instance: body.id },
      });
    },
  });
  const isWrong = findSecondsError(draft.maxDuration) !== null;
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isWrong) focusMissing(event.currentTarget);
    else if (!creation.isPending) creation.mutate();
  };
  return (
    <form className={styles.form} onSubmit={submit} noValidate>
      <RoleNotice right="write" does="create instances" />
      <InstanceFields
        application={application}
        draft={draft}
        isNew
        isReadOnly={!canWrite}
        onChange={(values) => setDraft((current) => ({ ...current, ...values }))}
      />
      <div className={styles.submit}>
        {creation.isError && <Notice kind="error">{describeError(creation.error)}</Notice>}
        {canWrite && (
          <Button kind="primary" type="submit" isPending={creation.isPending}>
            {isWrong ? 'Correct the duration' : 'Create instance'}
          </Button>
        )}
      </div>
      <RequestCode request={['createInstance', request]} />
    </form>
  );
}
