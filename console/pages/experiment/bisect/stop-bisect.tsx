import { endEarly } from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import { useState } from 'react';
import { client } from '../../../client/client.ts';
import { queryClient } from '../../../client/queries.ts';
import { Button } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { useRight } from '../../../ui/use-right.ts';
import { experimentQuery } from '../queries.ts';

interface StopBisectProps {
  application: string;
  id: string;
  status: string;
}

/** Stops a search that runs, after its id was typed. */
export function StopBisect({ application, id, status }: StopBisectProps) {
  const mayChange = useRight('experiment');
  const [isStopping, setStopping] = useState(false);
  if (!mayChange || status !== 'started') return null;
  return (
    <div className="line">
      <Button onPress={() => setStopping(true)}>Stop the search</Button>
      {isStopping && (
        <ConfirmDialog
          title={`Stop ${id}?`}
          word={id}
          action="Stop the search"
          onClose={() => setStopping(false)}
          onConfirm={async () => {
            const address = { type: 'bisect', application, id } as const;
            await endEarly(client, address, 'cancel');
            setStopping(false);
            await queryClient.invalidateQueries(experimentQuery(address));
          }}
        >
          <p>Its runs are canceled, and it cannot continue. The steps so far stay.</p>
        </ConfirmDialog>
      )}
    </div>
  );
}
