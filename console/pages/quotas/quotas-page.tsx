import {
  type Format,
  formatHours,
  formatUse,
  formatValue,
} from '@switchyard/contract/presentation/format-quantity.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Answer } from '../../ui/answer.tsx';
import { Button } from '../../ui/button.tsx';
import { Meter } from '../../ui/charts/meter.tsx';
import { Notice } from '../../ui/notice.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { useRight } from '../../ui/use-right.ts';
import { ApplicationQuotas } from './application-quotas.tsx';
import { Licenses } from './licenses.tsx';
import { quotasQuery } from './queries.ts';
import { QuotasDialog } from './quotas-dialog.tsx';
import styles from './quotas-page.module.css';

/** The quotas of the account as bars of what it uses. */
export function QuotasPage() {
  usePageTitle('Quotas');
  const { data } = useSuspenseQuery(quotasQuery);
  const mayChange = useRight('account');
  const [isEditing, setEditing] = useState(false);
  const { concurrent_runs: runs, core_hours_per_month: hours } = data;
  const isUsedUp = hours !== null && data.used_core_hours >= hours;
  return (
    <>
      <PageHeader
        title="Quotas"
        description="Limits of the account, and what it uses of them. Without a quota, the slots of the server are the only limit."
        actions={mayChange && <Button onPress={() => setEditing(true)}>Change quotas</Button>}
      />
      {isUsedUp && (
        <div className={styles.notice}>
          <Notice kind="warning">
            The core hours of this month are used up. New runs are refused until the month ends or an
            administrator raises the quota.
          </Notice>
        </div>
      )}
      <Answer
        numbers={[
          {
            label: 'Runs at once',
            text: formatValue(data.running_runs),
            note: (
              <>
                <Quota title="Runs at once" value={data.running_runs} limit={runs} />
                Further runs wait in the <Link to="/queue">queue</Link>.
              </>
            ),
          },
          {
            label: 'Core hours this month',
            text: formatHours(data.used_core_hours),
            note: (
              <>
                <Quota
                  title="Core hours this month"
                  value={data.used_core_hours}
                  limit={hours}
                  format={formatHours}
                />
                A run counts when it ends. Reset <RelativeTime at={data.resets_at} />, at the start of the
                month in UTC.
              </>
            ),
          },
        ]}
      />
      <ApplicationQuotas quotas={data.applications} mayChange={mayChange} />
      <Licenses mayChange={mayChange} />
      {isEditing && <QuotasDialog quotas={data} onClose={() => setEditing(false)} />}
    </>
  );
}

interface QuotaProps {
  title: string;
  value: number;
  limit: number | null;
  /** Writes the value with its unit. */
  format?: Format;
}

/** How much of a quota is used. */
function Quota({ title, value, limit, format = formatValue }: QuotaProps) {
  if (limit === null) return 'No quota. ';
  const text = formatUse(value, limit, format);
  return (
    <Meter label={title} value={value} max={limit} text={text} tone={value >= limit ? 'warning' : 'plain'} />
  );
}
