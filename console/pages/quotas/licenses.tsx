import type { License } from '@switchyard/contract/licenses.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Meter } from '../../ui/charts/meter.tsx';
import { DataTable } from '../../ui/data-table/data-table.tsx';
import { RunLink } from '../../ui/run-link.tsx';
import { LicensesDialog } from './licenses-dialog.tsx';
import { licensesQuery } from './queries.ts';
import styles from './quotas-page.module.css';

/** The licences of the account with the runs that hold their tokens, and the form that sets them. */
export function Licenses({ mayChange }: { mayChange: boolean }) {
  const { data } = useSuspenseQuery(licensesQuery);
  const { licenses } = data;
  const [isEditing, setEditing] = useState(false);
  if (licenses.length === 0 && !mayChange) return null;
  return (
    <section aria-labelledby="licences" className="section-below">
      <h2 id="licences">Licences</h2>
      <p className="meta">
        Runs of an instance that requires tokens of a licence wait until enough of them are free.
      </p>
      {licenses.length > 0 && (
        <DataTable
          label="Licences"
          rows={licenses}
          keyOf={({ name }) => name}
          columns={[
            { title: 'Licence', cell: ({ name }) => <code>{name}</code> },
            {
              title: 'Tokens in use',
              cell: ({ name, total, used }) => (
                <Meter
                  label={`Tokens of ${name}`}
                  value={used}
                  max={Math.max(total, used)}
                  text={`${formatNumber(used)} of ${formatNumber(total)}`}
                  tone={used > total ? 'warning' : 'plain'}
                />
              ),
            },
            { title: 'Runs', cell: ({ holders }) => <Holders holders={holders} /> },
          ]}
        />
      )}
      {mayChange && (
        <div className={styles.choice}>
          <Button onPress={() => setEditing(true)}>Change licences</Button>
        </div>
      )}
      {isEditing && <LicensesDialog licenses={data} onClose={() => setEditing(false)} />}
    </section>
  );
}

function Holders({ holders }: Pick<License, 'holders'>) {
  return (
    <ul className={styles.holders}>
      {holders.map(({ run_id, application_id, tokens }) => (
        <li key={run_id}>
          <RunLink application={application_id} run={run_id}>
            {run_id}
          </RunLink>{' '}
          {tokens === 1 ? '1 token' : `${tokens} tokens`}
        </li>
      ))}
    </ul>
  );
}
