import type { License } from '@switchyard/contract/licenses.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Meter } from '../../ui/charts/meter.tsx';
import { TableHead } from '../../ui/resources/table-head.tsx';
import { TableRegion } from '../../ui/resources/table-region.tsx';
import { RunLink } from '../../ui/run-link.tsx';
import table from '../../ui/table.module.css';
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
        <TableRegion label="Table of licences">
          <table className={table.table} aria-labelledby="licences">
            <TableHead texts={['Licence', 'Tokens in use', 'Runs']} />
            <tbody>
              {licenses.map((license) => (
                <LicenseRow key={license.name} license={license} />
              ))}
            </tbody>
          </table>
        </TableRegion>
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

function LicenseRow({ license: { name, total, used, holders } }: { license: License }) {
  return (
    <tr>
      <td>
        <code>{name}</code>
      </td>
      <td>
        <Meter
          label={`Tokens of ${name}`}
          value={used}
          max={Math.max(total, used)}
          text={`${formatNumber(used)} of ${formatNumber(total)}`}
          tone={used > total ? 'bad' : 'plain'}
        />
      </td>
      <td>
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
      </td>
    </tr>
  );
}
