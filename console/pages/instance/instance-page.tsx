import type { Instance } from '@switchyard/contract/applications/instances.ts';
import { isLatest } from '@switchyard/contract/applications/reserved-instances.ts';
import { useMutation, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { instanceQuery } from '../../client/applications.ts';
import { client } from '../../client/client.ts';
import { Button } from '../../ui/button.tsx';
import { SendError } from '../../ui/forms/conflicts/send-error.tsx';
import { useEdit } from '../../ui/forms/conflicts/use-edit.ts';
import { focusMissing } from '../../ui/forms/form-dialog.tsx';
import { RequestCode } from '../../ui/forms/request-code.tsx';
import { RoleNotice } from '../../ui/forms/role-notice.tsx';
import { findSecondsError } from '../../ui/forms/seconds/parse-seconds.ts';
import { Notice } from '../../ui/notice.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { useRight } from '../../ui/use-right.ts';
import { buildUpdate, createDraft, DRAFT_LABELS } from './draft.ts';
import { InstanceHeader } from './instance-actions.tsx';
import { InstanceFields } from './instance-fields.tsx';
import styles from './instance-page.module.css';
import { refreshInstances } from './queries.ts';

const route = getRouteApi('/signed-in/apps/$application/instances/$instance');

/** One instance: its values, to change or, while it is locked, to read. */
export function InstancePage() {
  const { application, instance: id } = route.useParams();
  const { data: instance } = useSuspenseQuery(instanceQuery(application, id));
  usePageTitle(instance.name, 'Instances', application);
  return (
    <>
      <InstanceHeader application={application} instance={instance} />
      <InstanceNotices instance={instance} />
      {!isLatest(id) && <InstanceForm key={id} application={application} instance={instance} />}
    </>
  );
}

/** Says why an instance cannot be changed, or why its runs are refused. */
function InstanceNotices({ instance }: { instance: Instance }) {
  return (
    <div className={styles.notices}>
      {isLatest(instance.id) && (
        <Notice kind="info">It always runs the executable pushed last, and cannot be changed.</Notice>
      )}
      {instance.locked_by !== undefined && instance.locked_at !== undefined && (
        <Notice kind="info">
          Locked by <bdi>{instance.locked_by}</bdi> <RelativeTime at={instance.locked_at} />. Unlock it to
          change or delete it.
        </Notice>
      )}
      {instance.version_deleted && (
        <Notice kind="warning">Its version was deleted, so runs are refused. Choose another version.</Notice>
      )}
    </div>
  );
}

function InstanceForm({ application, instance }: { application: string; instance: Instance }) {
  const canWrite = useRight('write');
  const params = { application_id: application, instance_id: instance.id };
  const { draft, change, seen, setSeen, load } = useEdit({
    resource: instance,
    fetch: async () => (await client.call('getInstance', { params })).body,
    createDraft,
    labels: DRAFT_LABELS,
  });
  const request = { params, body: buildUpdate(draft) };
  const saving = useMutation({
    mutationFn: () =>
      client.call('updateInstance', {
        ...request,
        body: { ...request.body, expected_updated_at: seen.updated_at },
      }),
    onSuccess: ({ body }) => {
      setSeen(body);
      return refreshInstances();
    },
  });
  const isChanged = JSON.stringify(request.body) !== JSON.stringify(buildUpdate(createDraft(seen)));
  const isWrong = findSecondsError(draft.maxDuration) !== null;
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isWrong) focusMissing(event.currentTarget);
    else if (isChanged && !saving.isPending) saving.mutate();
  };
  return (
    <form className={styles.form} onSubmit={submit} noValidate>
      <RoleNotice right="write" does="change instances" />
      <InstanceFields
        application={application}
        draft={draft}
        isNew={false}
        isReadOnly={!canWrite || instance.locked}
        onChange={(values) => {
          saving.reset();
          change(values);
        }}
      />
      {canWrite && !instance.locked && (
        <div className={styles.submit}>
          <SendError sending={saving} onLoad={load} />
          {saving.isSuccess && <Notice kind="success">Saved. New runs use these values.</Notice>}
          {isChanged ? (
            <Button kind="primary" type="submit" isPending={saving.isPending}>
              {isWrong ? 'Correct the duration' : 'Save'}
            </Button>
          ) : (
            !saving.isSuccess && <p className="soft">Change a value to save it.</p>
          )}
        </div>
      )}
      <RequestCode request={['updateInstance', request]} />
    </form>
  );
}
