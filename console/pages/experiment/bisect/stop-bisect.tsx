import { useMutation } from '@tanstack/react-query';
import { client, describeError } from '../../../client/client.ts';
import { queryClient } from '../../../client/queries.ts';
import { Button } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { useRight } from '../../../ui/use-right.ts';
import styles from '../experiment-page.module.css';
import { bisectQuery } from '../queries.ts';

interface StopBisectProps {
  application: string;
  id: string;
  status: string;
}

/** Stops a search that runs. */
export function StopBisect({ application, id, status }: StopBisectProps) {
  const mayChange = useRight('experiment');
  const stop = useMutation({
    mutationFn: () =>
      client.call('stopBisectExperiment', { params: { application_id: application, bisect_id: id } }),
    onSettled: () => queryClient.invalidateQueries(bisectQuery(application, id)),
  });
  if (!mayChange || status !== 'started') return null;
  return (
    <div className={styles.actions}>
      <Button kind="danger" onPress={() => stop.mutate()} isDisabled={stop.isPending}>
        Stop the search
      </Button>
      {stop.isError && <Notice kind="error">{describeError(stop.error)}</Notice>}
    </div>
  );
}
