import type { Quotas } from '@switchyard/contract/account/quotas.ts';
import { formatUse, formatValue } from '@switchyard/contract/presentation/format-quantity.ts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { applicationsQuery } from '../../client/applications.ts';
import { Button } from '../../ui/button.tsx';
import { Meter } from '../../ui/charts/meter.tsx';
import { SelectField } from '../../ui/forms/text-field.tsx';
import { TableHead } from '../../ui/resources/table-head.tsx';
import { TableRegion } from '../../ui/resources/table-region.tsx';
import table from '../../ui/table.module.css';
import { ApplicationQuotasDialog } from './quotas-dialog.tsx';
import styles from './quotas-page.module.css';

type ApplicationQuota = Quotas['applications'][number];

interface ApplicationQuotasProps {
  quotas: readonly ApplicationQuota[];
  mayChange: boolean;
}

/** The applications that have a quota, and the choice of another one for a role that may set it. */
export function ApplicationQuotas({ quotas, mayChange }: ApplicationQuotasProps) {
  const [edited, setEdited] = useState<string>();
  if (quotas.length === 0 && !mayChange) return null;
  return (
    <section aria-labelledby="application-quotas" className="section-below">
      <h2 id="application-quotas">Quotas of applications</h2>
      {quotas.length === 0 ? (
        <p className="meta">No application has a quota beside those of the account.</p>
      ) : (
        <TableRegion label="Table of quotas">
          <table className={table.table} aria-labelledby="application-quotas">
            <TableHead texts={['Application', 'Runs at once', 'Core hours this month']}>
              {mayChange && <td />}
            </TableHead>
            <tbody>
              {quotas.map((quota) => (
                <QuotaRow
                  key={quota.application_id}
                  quota={quota}
                  onEdit={mayChange ? setEdited : undefined}
                />
              ))}
            </tbody>
          </table>
        </TableRegion>
      )}
      {mayChange && <ApplicationChoice limited={quotas} onChoose={setEdited} />}
      {edited !== undefined && (
        <ApplicationQuotasDialog application={edited} onClose={() => setEdited(undefined)} />
      )}
    </section>
  );
}

interface QuotaRowProps {
  quota: ApplicationQuota;
  onEdit: ((application: string) => void) | undefined;
}

function QuotaRow({ quota, onEdit }: QuotaRowProps) {
  const { application_id: application } = quota;
  return (
    <tr>
      <td>
        <Link to="/apps/$application" params={{ application }}>
          {application}
        </Link>
      </td>
      <td>
        <Use
          label={`Runs of ${application} at once`}
          value={quota.running_runs}
          limit={quota.concurrent_runs}
        />
      </td>
      <td>
        <Use
          label={`Core hours of ${application}`}
          value={quota.used_core_hours}
          limit={quota.core_hours_per_month}
        />
      </td>
      {onEdit && (
        <td>
          <Button onPress={() => onEdit(application)} aria-label={`Change the quotas of ${application}`}>
            Change
          </Button>
        </td>
      )}
    </tr>
  );
}

function Use({ label, value, limit }: { label: string; value: number; limit: number | null }) {
  if (limit === null) return <>{formatValue(value)}, no quota</>;
  return (
    <Meter
      label={label}
      value={value}
      max={limit}
      text={formatUse(value, limit)}
      tone={value >= limit ? 'bad' : 'plain'}
    />
  );
}

interface ApplicationChoiceProps {
  limited: readonly ApplicationQuota[];
  onChoose: (application: string) => void;
}

/** Opens the form for an application that has no quota yet. */
function ApplicationChoice({ limited, onChoose }: ApplicationChoiceProps) {
  const { data = [] } = useQuery(applicationsQuery);
  const others = data.filter(({ id }) => !limited.some(({ application_id }) => application_id === id));
  if (others.length === 0) return null;
  return (
    <div className={styles.choice}>
      <SelectField
        label="Limit another application"
        value=""
        options={[
          { value: '', label: 'Choose an application' },
          ...others.map(({ id, name }) => ({ value: id, label: name === id ? id : `${name} (${id})` })),
        ]}
        onChange={(id) => id !== '' && onChoose(id)}
      />
    </div>
  );
}
