import { useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { applicationQuery, instancesQuery } from '../../client/applications.ts';
import { listItems } from '../../client/list-items.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { SendError } from '../../ui/forms/conflicts/send-error.tsx';
import { MoreMenu } from '../../ui/menu.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { TableHead } from '../../ui/resources/table-head.tsx';
import { TableRegion } from '../../ui/resources/table-region.tsx';
import { useSetDefault } from '../../ui/resources/use-set-default.ts';
import table from '../../ui/table.module.css';
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
  const instances = [...listItems(found), LATEST];
  const canWrite = useRight('write');
  const change = useSetDefault(application);
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
      <TableRegion label="Table of instances">
        <table className={table.table}>
          <TableHead texts={['Instance', 'Version', 'Options', 'Lock']}>
            {canWrite && (
              <td>
                <span className="visually-hidden">Actions</span>
              </td>
            )}
          </TableHead>
          <tbody>
            {instances.map((instance) => (
              <InstanceRow
                key={instance.id}
                application={application}
                instance={instance}
                isDefault={instance.id === (data.default_instance || 'latest')}
                onChoose={() => change.sending.mutate(instance.id)}
              />
            ))}
          </tbody>
        </table>
      </TableRegion>
    </section>
  );
}

interface InstanceRowProps {
  application: string;
  instance: InstanceSummary;
  isDefault: boolean;
  onChoose: () => void;
}

function InstanceRow({ application, instance, isDefault, onChoose }: InstanceRowProps) {
  const { id, name, version_id, version_deleted, configuration, locked_by, locked_at } = instance;
  const canWrite = useRight('write');
  return (
    <tr>
      <td>
        <Link to="/apps/$application/instances/$instance" params={{ application, instance: id }}>
          <bdi>{name}</bdi>
        </Link>{' '}
        {name !== id && <code>{id}</code>} {isDefault && <span className={styles.mark}>default</span>}
      </td>
      <td>
        {version_id || 'newest executable'}
        {version_deleted && ' (deleted)'}
      </td>
      <td className={styles.options}>
        {Object.entries(configuration.options)
          .map(([option, value]) => `${option} = ${value}`)
          .join(', ') || '–'}
      </td>
      <td>
        {locked_at === undefined ? (
          '–'
        ) : (
          <span title={`Locked by ${locked_by}`}>
            Locked <RelativeTime at={locked_at} />
          </span>
        )}
      </td>
      {canWrite && (
        <td className="row-action">
          {!isDefault && (
            <MoreMenu label={`Actions of ${name}`}>
              <Button onPress={onChoose} aria-label={`Set as default: ${name}`}>
                Set as default
              </Button>
            </MoreMenu>
          )}
        </td>
      )}
    </tr>
  );
}
