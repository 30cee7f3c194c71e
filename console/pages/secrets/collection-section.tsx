import type { SecretsCollectionSummary } from '@switchyard/contract/applications/secrets.ts';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { describeError } from '../../client/client.ts';
import { Button } from '../../ui/button.tsx';
import { DataTable } from '../../ui/data-table/data-table.tsx';
import { MoreMenu } from '../../ui/menu.tsx';
import { Notice } from '../../ui/notice.tsx';
import { ResourceHeading } from '../../ui/resources/resource-heading.tsx';
import { useRight } from '../../ui/use-right.ts';
import { type OpenDialog, SecretDialogs } from './collection-dialogs.tsx';
import { fetchSecretNames, type SecretName } from './queries.ts';
import styles from './secrets-page.module.css';

/** One collection. The names of its secrets are read only on request, because the server audits that. */
export function CollectionSection({
  application,
  collection,
}: {
  application: string;
  collection: SecretsCollectionSummary;
}) {
  const [dialog, setDialog] = useState<OpenDialog>();
  const canWrite = useRight('write');
  const canRead = useRight('read-secrets');
  const names = useMutation({ mutationFn: () => fetchSecretNames(application, collection.id) });
  return (
    <section aria-labelledby="collection" className="section-below">
      <div className={styles.heading}>
        <div>
          <h2 id="collection">{collection.name}</h2>
          <ResourceHeading id={collection.id} noun="collection" description={collection.description} />
        </div>
        {canWrite && (
          <div className={styles.actions}>
            <Button onPress={() => setDialog({ kind: 'create' })}>Add secret</Button>
            <Button onPress={() => setDialog({ kind: 'rename' })}>Rename</Button>
            <Button onPress={() => setDialog({ kind: 'remove-collection' })}>Delete collection</Button>
          </div>
        )}
      </div>
      {names.isError && <Notice kind="error">{describeError(names.error)}</Notice>}
      {names.data ? (
        <SecretNames names={names.data} canWrite={canWrite} onOpen={setDialog} />
      ) : (
        canRead && (
          <p className={styles.actions}>
            <Button onPress={() => names.mutate()} isDisabled={names.isPending}>
              Show names of the secrets
            </Button>
            <span className="soft">The audit log records it. Values stay hidden.</span>
          </p>
        )
      )}
      {dialog && (
        <SecretDialogs
          application={application}
          collection={collection}
          dialog={dialog}
          onChanged={() => names.data && names.mutate()}
          onClose={() => setDialog(undefined)}
        />
      )}
    </section>
  );
}

function SecretNames({
  names,
  canWrite,
  onOpen,
}: {
  names: readonly SecretName[];
  canWrite: boolean;
  onOpen: (dialog: OpenDialog) => void;
}) {
  if (names.length === 0) return <p className="soft">The collection has no secret.</p>;
  return (
    <DataTable
      label="Secrets"
      rows={names}
      keyOf={({ type, location }) => `${type} ${location}`}
      columns={[
        {
          title: 'Name or path',
          hover: ({ location }) => location,
          cell: ({ location }) => <code>{location}</code>,
        },
        {
          title: 'Form',
          onPhone: 'plain',
          cell: ({ type }) => (type === 'env' ? 'environment variable' : 'file'),
        },
        canWrite && {
          title: 'Actions',
          kind: 'actions',
          cell: (secret) => (
            <MoreMenu label={`Actions of ${secret.location}`}>
              <Button
                onPress={() => onOpen({ kind: 'update', secret })}
                aria-label={`Replace the value of ${secret.location}`}
              >
                Replace
              </Button>
              <Button
                onPress={() => onOpen({ kind: 'delete', secret })}
                aria-label={`Delete ${secret.location}`}
              >
                Delete
              </Button>
            </MoreMenu>
          ),
        },
      ]}
    />
  );
}
