import { useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { applicationQuery, instancesQuery } from '../../client/applications.ts';
import { listItems } from '../../client/list-items.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { type DataColumn, DataTable } from '../../ui/data-table/data-table.tsx';
import { SendError } from '../../ui/forms/conflicts/send-error.tsx';
import { MoreMenu } from '../../ui/menu.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { useSetDefault } from '../../ui/resources/use-set-default.ts';
import { useRight } from '../../ui/use-right.ts';
import styles from './application-page.module.css';

/** The parts of an instance that its row shows. */
interface InstanceSummary {
  id: string;
  name: string;
  version_id: string;
  version_deleted?: boolean;
  configuration: { options: Record<string, string> };
  locked_by?: string;
  locked_at?: string;
}

const LATEST: InstanceSummary = {
  id: 'latest',
  name: 'latest',
  version_id: '',
  configuration: { options: {} },
};

/** The instances of the application. One of them is the default of runs without an instance id. */
export function InstancesSection({ application }: { application: string }) {
  const { data } = useSuspenseQuery(applicationQuery(application));
  const { data: found } = useSuspenseQuery(instancesQuery(application));
  const canWrite = useRight('write');
  const change = useSetDefault(application);
  const defaultId = data.default_instance || 'latest';
  return (
    <section aria-labelledby="instances">
      <div className={styles.heading}>
        <h2 id="instances">Instances</h2>
        {canWrite && (
          <LinkButton to="/apps/$application/new-instance" params={{ application }}>
            New instance
          </LinkButton>
        )}
      </div>
      <SendError sending={change.sending} onLoad={change.load} />
      <DataTable<InstanceSummary>
        label="Table of instances"
        rows={[...listItems(found), LATEST]}
        columns={[
          ...buildColumns(application, defaultId),
          canWrite && {
            title: 'Actions',
            kind: 'actions',
            cell: ({ id, name }) =>
              id !== defaultId && (
                <MoreMenu label={`Actions of ${name}`}>
                  <Button onPress={() => change.sending.mutate(id)} aria-label={`Set as default: ${name}`}>
                    Set as default
                  </Button>
                </MoreMenu>
              ),
          },
        ]}
      />
    </section>
  );
}

function buildColumns(application: string, defaultId: string): DataColumn<InstanceSummary>[] {
  return [
    {
      title: 'Instance',
      sortBy: ({ name }) => name,
      cell: ({ id, name }) => (
        <>
          <Link to="/apps/$application/instances/$instance" params={{ application, instance: id }}>
            <bdi>{name}</bdi>
          </Link>{' '}
          {name !== id && <code>{id}</code>}{' '}
          {id === defaultId && <span className={styles.mark}>default</span>}
        </>
      ),
    },
    {
      title: 'Version',
      sortBy: ({ version_id }) => version_id,
      cell: ({ version_id, version_deleted }) => (
        <>
          <bdi>{version_id || 'newest executable'}</bdi>
          {version_deleted && <span className="bad"> (deleted)</span>}
        </>
      ),
    },
    {
      title: 'Options',
      onPhone: 'hidden',
      cell: ({ configuration }) => <bdi>{formatOptions(configuration.options) || '–'}</bdi>,
      hover: ({ configuration }) => formatOptions(configuration.options),
    },
    {
      title: 'Lock',
      onPhone: 'hidden',
      cell: ({ locked_at, locked_by }) =>
        locked_at === undefined ? (
          '–'
        ) : (
          <span title={`Locked by ${locked_by}`}>
            Locked <RelativeTime at={locked_at} />
          </span>
        ),
    },
  ];
}

function formatOptions(options: Readonly<Record<string, string>>): string {
  return Object.entries(options)
    .map(([option, value]) => `${option} = ${value}`)
    .join(', ');
}
