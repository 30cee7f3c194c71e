import type { Quotas } from '@switchyard/contract/account/quotas.ts';
import { formatUse, formatValue } from '@switchyard/contract/presentation/format-quantity.ts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { applicationsQuery } from '../../client/applications.ts';
import { describeError } from '../../client/client.ts';
import { ApplicationLink } from '../../ui/application-link.tsx';
import { Button } from '../../ui/button.tsx';
import { Meter } from '../../ui/charts/meter.tsx';
import { DataTable } from '../../ui/data-table/data-table.tsx';
import { SelectField } from '../../ui/forms/text-field.tsx';
import { Notice } from '../../ui/notice.tsx';
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
        <DataTable
          label="Quotas of applications"
          rows={quotas}
          keyOf={({ application_id }) => application_id}
          columns={[
            {
              title: 'Application',
              cell: ({ application_id, application_name }) => (
                <ApplicationLink id={application_id} name={application_name} />
              ),
            },
            {
              title: 'Runs at once',
              cell: ({ application_id, running_runs, concurrent_runs }) => (
                <Use
                  label={`Runs of ${application_id} at once`}
                  value={running_runs}
                  limit={concurrent_runs}
                />
              ),
            },
            {
              title: 'Core hours this month',
              cell: ({ application_id, used_core_hours, core_hours_per_month }) => (
                <Use
                  label={`Core hours of ${application_id}`}
                  value={used_core_hours}
                  limit={core_hours_per_month}
                />
              ),
            },
            mayChange && {
              title: 'Change',
              kind: 'actions',
              cell: ({ application_id }) => (
                <Button
                  kind="quiet"
                  onPress={() => setEdited(application_id)}
                  aria-label={`Change the quotas of ${application_id}`}
                >
                  Change
                </Button>
              ),
            },
          ]}
        />
      )}
      {mayChange && <ApplicationChoice limited={quotas} onChoose={setEdited} />}
      {edited !== undefined && (
        <ApplicationQuotasDialog application={edited} onClose={() => setEdited(undefined)} />
      )}
    </section>
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
      tone={value >= limit ? 'warning' : 'plain'}
    />
  );
}

/** Moves the focus to the field that replaces the button. */
const focusField = (element: HTMLElement | null) =>
  element?.querySelector<HTMLElement>('select, input')?.focus();

interface ApplicationChoiceProps {
  limited: readonly ApplicationQuota[];
  onChoose: (application: string) => void;
}

/** Opens the form for an application that has no quota yet. */
function ApplicationChoice({ limited, onChoose }: ApplicationChoiceProps) {
  const [isAsked, setAsked] = useState(false);
  const { data, error, isFetching, refetch } = useQuery({ ...applicationsQuery, enabled: isAsked });
  if (!data || !isAsked)
    return (
      <div className={styles.choice}>
        <Button onPress={() => (isAsked ? void refetch() : setAsked(true))} isDisabled={isFetching}>
          Limit another application
        </Button>
        {error && <Notice kind="error">{describeError(error)}</Notice>}
      </div>
    );
  const others = data.filter(({ id }) => !limited.some(({ application_id }) => application_id === id));
  if (others.length === 0) return <p className="meta">Every application has a quota.</p>;
  return (
    <div className={styles.choice} ref={focusField}>
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
