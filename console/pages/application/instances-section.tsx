import { useMutation, useSuspenseQuery } from '@tanstack/react-query';
import { client, describeError } from '../../client/client.ts';
import { queryClient } from '../../client/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import table from '../../ui/table.module.css';
import { useRight } from '../../ui/use-right.ts';
import styles from './application-page.module.css';
import { applicationQuery, instancesQuery } from './queries.ts';

const LATEST = { id: 'latest', name: 'latest', version_id: '', configuration: { options: {} } };

/** The instances of the application. One of them is the default of runs without an instance id. */
export function InstancesSection({ application }: { application: string }) {
  const { data } = useSuspenseQuery(applicationQuery(application));
  const { data: found } = useSuspenseQuery(instancesQuery(application));
  const instances = [...(Array.isArray(found) ? found : found.items), LATEST];
  const change = useSetDefault(application);
  return (
    <section aria-labelledby="instances">
      <h2 id="instances">Instances</h2>
      {change.isError && <Notice kind="error">{describeError(change.error)}</Notice>}
      <div className={table.scroll}>
        <table className={table.table}>
          <thead>
            <tr>
              <th>Instance</th>
              <th>Version</th>
              <th>Options</th>
              <th>Default</th>
            </tr>
          </thead>
          <tbody>
            {instances.map(({ id, name, version_id, configuration }) => (
              <tr key={id}>
                <td>
                  <bdi>{name}</bdi> {name !== id && <code>{id}</code>}
                </td>
                <td>{version_id || 'newest executable'}</td>
                <td className={styles.options}>
                  {Object.entries(configuration.options)
                    .map(([option, value]) => `${option} = ${value}`)
                    .join(', ') || '–'}
                </td>
                <td>
                  <DefaultMark
                    name={name}
                    isDefault={id === (data.default_instance || 'latest')}
                    onChoose={() => change.mutate(id)}
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function useSetDefault(application: string) {
  return useMutation({
    mutationFn: (instance: string) =>
      client.call('updateApplication', {
        params: { application_id: application },
        body: { default_instance: instance },
      }),
    onSuccess: () =>
      Promise.all([
        queryClient.invalidateQueries({ queryKey: ['getApplication'] }),
        queryClient.invalidateQueries({ queryKey: ['listApplications'] }),
      ]),
  });
}

function DefaultMark({
  name,
  isDefault,
  onChoose,
}: {
  name: string;
  isDefault: boolean;
  onChoose: () => void;
}) {
  const canWrite = useRight('write');
  if (isDefault) return <span className={styles.mark}>Default</span>;
  if (!canWrite) return null;
  return (
    <Button kind="quiet" onPress={onChoose} aria-label={`Set ${name} as default`}>
      Set as default
    </Button>
  );
}
