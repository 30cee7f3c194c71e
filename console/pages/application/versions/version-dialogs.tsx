import type { Version } from '@switchyard/contract/applications/versions.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { instancesQuery } from '../../../client/applications.ts';
import { client } from '../../../client/client.ts';
import { listItems } from '../../../client/list-items.ts';
import { queryClient } from '../../../client/queries.ts';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import type { FieldChange } from '../../../ui/forms/conflicts/merge-drafts.ts';
import { FormDialog } from '../../../ui/forms/form-dialog.tsx';
import { SelectField, TextField } from '../../../ui/forms/text-field.tsx';
import { RenameDialog } from '../../../ui/resources/rename-dialog.tsx';
import { refreshVersions } from '../queries.ts';

interface DialogProps {
  application: string;
  onClose: () => void;
}

/** Names the active executable as a version, and lets an instance run it. */
export function NewVersion({ application, onClose }: DialogProps) {
  const { data } = useSuspenseQuery(instancesQuery(application));
  const [draft, setDraft] = useState({ id: '', name: '', description: '', instance: '' });
  // The id of the created version: when the instance refuses it, a second attempt must not create another one.
  const [created, setCreated] = useState<string>();
  const change = (values: Partial<typeof draft>) => setDraft((current) => ({ ...current, ...values }));
  const instances = listItems(data).filter(({ locked }) => !locked);
  const requests = planRequests(application, draft, created);
  const submit = async () => {
    let version = created;
    if (version === undefined) {
      version = (await client.call('createVersion', requests.creation)).body.id;
      setCreated(version);
    }
    await refreshVersions();
    if (draft.instance !== '')
      await client.call('updateInstance', {
        ...requests.promotion,
        body: {
          version_id: version,
          expected_version_id: findVersion(instances, draft.instance),
        },
      });
    await refreshVersions();
    onClose();
  };
  const commands = [
    ['createVersion', requests.creation] as const,
    ...(draft.instance === '' ? [] : [['updateInstance', requests.promotion] as const]),
  ];
  return (
    <FormDialog
      title="New version"
      action={created === undefined ? 'Create version' : 'Change instance'}
      requests={commands}
      onSubmit={submit}
      onLoad={() => loadVersion(application, draft.instance, findVersion(instances, draft.instance))}
      onClose={onClose}
    >
      <p>A version names the active executable, and never changes it.</p>
      <TextField
        label="Id"
        help="Empty: the server generates one."
        value={draft.id}
        onChange={(id) => change({ id })}
        autoFocus
      />
      <TextField label="Name" value={draft.name} onChange={(name) => change({ name })} />
      <TextField
        label="Description"
        value={draft.description}
        onChange={(description) => change({ description })}
      />
      <SelectField
        label="Instance that runs it"
        help="The instance gets this version, and keeps its configuration. Locked ones are left out."
        value={draft.instance}
        options={[
          { value: '', label: 'none' },
          ...instances.map(({ id, version_id }) => ({ value: id, label: `${id}, now ${version_id}` })),
        ]}
        onChange={(instance) => change({ instance })}
      />
    </FormDialog>
  );
}

/** Returns the version that the instance runs; empty when there is no such instance any more. */
const findVersion = (instances: readonly { id: string; version_id: string }[], instance: string): string =>
  instances.find(({ id }) => id === instance)?.version_id ?? '';

/** Shows the present version of the instance, and returns the change from the one that the person has seen. */
async function loadVersion(application: string, instance: string, before: string): Promise<FieldChange[]> {
  await refreshVersions();
  const present = await queryClient.fetchQuery(instancesQuery(application));
  const after = findVersion(listItems(present), instance);
  return [{ label: `Version of ${instance}`, before, after, isRetained: false }];
}

interface VersionDraft {
  id: string;
  name: string;
  description: string;
  instance: string;
}

/** Returns the request that creates the version, and the one that gives it to the instance. */
function planRequests(application: string, draft: VersionDraft, created: string | undefined) {
  const id = draft.id.trim();
  const name = draft.name.trim();
  const description = draft.description.trim();
  const params = { application_id: application };
  return {
    creation: {
      params,
      body: {
        ...(id !== '' && { id }),
        ...(name !== '' && { name }),
        ...(description !== '' && { description }),
      },
    },
    promotion: {
      params: { ...params, instance_id: draft.instance },
      body: { version_id: created ?? (id || 'ID_OF_THE_VERSION') },
    },
  };
}

/** Changes name and description of a version. */
export function RenameVersion({ application, version, onClose }: DialogProps & { version: Version }) {
  const params = { application_id: application, version_id: version.id };
  return (
    <RenameDialog
      noun="version"
      current={version}
      fetchCurrent={async () => (await client.call('getVersion', { params })).body}
      buildRequest={(body) => ['updateVersion', { params, body }]}
      onRename={async (body, condition) => {
        await client.call('updateVersion', { params, body: { ...body, ...condition } });
        await refreshVersions();
        onClose();
      }}
      onClose={onClose}
    >
      <p>The executable of a version never changes.</p>
    </RenameDialog>
  );
}

/** Deletes a version after its id was typed. The server refuses one that is in use. */
export function DeleteVersion({ application, version: { id }, onClose }: DialogProps & { version: Version }) {
  return (
    <ConfirmDialog
      title={`Delete ${id}?`}
      word={id}
      action="Delete version"
      onClose={onClose}
      onConfirm={async () => {
        await client.call('deleteVersion', { params: { application_id: application, version_id: id } });
        await refreshVersions();
        onClose();
      }}
    >
      <p>Instances that run it refuse runs until they get another version. Its runs stay.</p>
    </ConfirmDialog>
  );
}
