import type { Application } from '@switchyard/contract/applications/applications.ts';
import type { Version } from '@switchyard/contract/applications/versions.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { applicationQuery, instancesQuery, versionsQuery } from '../../../client/applications.ts';
import { listItems } from '../../../client/list-items.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { DataTable } from '../../../ui/data-table/data-table.tsx';
import { formatCurl } from '../../../ui/forms/curl.ts';
import { MoreMenu } from '../../../ui/menu.tsx';
import { RelativeTime } from '../../../ui/relative-time.tsx';
import { isSubscription } from '../../../ui/subscriptions/subscription-notice.tsx';
import { useRight } from '../../../ui/use-right.ts';
import styles from '../application-page.module.css';
import { DeleteVersion, NewVersion, RenameVersion } from './version-dialogs.tsx';

type OpenDialog = { kind: 'new' } | { kind: 'rename' | 'delete'; version: Version };

/** The versions of the application, newest first, with the instances that run each. Those of a subscription never change. */
export function VersionsSection({ application }: { application: string }) {
  const { data: app } = useSuspenseQuery(applicationQuery(application));
  const { data } = useSuspenseQuery(versionsQuery(application));
  const canChange = useRight('write') && !isSubscription(app);
  const [dialog, setDialog] = useState<OpenDialog>();
  const close = () => setDialog(undefined);
  const versions = listItems(data);
  return (
    <section aria-labelledby="versions">
      <div className={styles.heading}>
        <h2 id="versions">Versions</h2>
        {canChange && app.active_executable && (
          <span className={styles.buttons}>
            {versions.length > 0 && (
              <LinkButton to="/apps/$application/compare-versions" params={{ application }}>
                Compare versions
              </LinkButton>
            )}
            <Button onPress={() => setDialog({ kind: 'new' })}>New version</Button>
          </span>
        )}
      </div>
      {versions.length === 0 ? (
        <NoVersion application={application} />
      ) : (
        <VersionTable app={app} versions={versions} canChange={canChange} onOpen={setDialog} />
      )}
      {dialog?.kind === 'new' && <NewVersion application={application} onClose={close} />}
      {dialog?.kind === 'rename' && (
        <RenameVersion application={application} version={dialog.version} onClose={close} />
      )}
      {dialog?.kind === 'delete' && (
        <DeleteVersion application={application} version={dialog.version} onClose={close} />
      )}
    </section>
  );
}

function NoVersion({ application }: { application: string }) {
  const command = formatCurl('createVersion', {
    params: { application_id: application },
    body: { id: 'v1' },
  });
  return (
    <>
      <p className="soft">
        No version yet. A version is an immutable name for the active executable, which instances run.
      </p>
      <pre className={styles.command}>
        <code>{command}</code>
      </pre>
    </>
  );
}

interface VersionTableProps {
  app: Application;
  versions: readonly Version[];
  canChange: boolean;
  onOpen: (dialog: OpenDialog) => void;
}

function VersionTable({ app, versions, canChange, onOpen }: VersionTableProps) {
  const { data } = useSuspenseQuery(instancesQuery(app.id));
  const instances = listItems(data);
  return (
    <DataTable
      label="Table of versions"
      rows={versions}
      columns={[
        {
          title: 'Version',
          sortBy: ({ name }) => name,
          cell: ({ id, name }) => (
            <>
              <bdi>{name}</bdi> {name !== id && <code>{id}</code>}
            </>
          ),
          hover: ({ description }) => description,
        },
        {
          title: 'Instances',
          onPhone: 'hidden',
          cell: ({ id }) => (
            <InstanceLinks
              application={app.id}
              instances={instances.filter(({ version_id }) => version_id === id)}
            />
          ),
        },
        {
          title: 'Pushed by',
          onPhone: 'plain',
          cell: ({ executable }) => (isSubscription(app) ? 'the publisher' : executable.user_email),
        },
        {
          title: 'Created',
          kind: 'number',
          onPhone: 'plain',
          sortBy: ({ created_at }) => created_at,
          cell: ({ created_at }) => <RelativeTime at={created_at} />,
        },
        canChange && {
          title: 'Actions',
          kind: 'actions',
          cell: (version) => (
            <MoreMenu label={`Actions of ${version.id}`}>
              <Button aria-label={`Rename ${version.id}`} onPress={() => onOpen({ kind: 'rename', version })}>
                Rename
              </Button>
              <Button aria-label={`Delete ${version.id}`} onPress={() => onOpen({ kind: 'delete', version })}>
                Delete
              </Button>
            </MoreMenu>
          ),
        },
      ]}
    />
  );
}

function InstanceLinks({
  application,
  instances,
}: {
  application: string;
  instances: readonly { id: string; name: string }[];
}) {
  if (instances.length === 0) return '–';
  return (
    <span className={styles.links}>
      {instances.map(({ id, name }) => (
        <Link key={id} to="/apps/$application/instances/$instance" params={{ application, instance: id }}>
          <bdi>{name}</bdi>
        </Link>
      ))}
    </span>
  );
}
