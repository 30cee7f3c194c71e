import type { Quotas } from '@switchyard/contract/account/quotas.ts';
import { CONCURRENT_RUNS_MAX, CORE_HOURS_MAX } from '@switchyard/contract/limits.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { useState } from 'react';
import { client } from '../../client/client.ts';
import { queryClient } from '../../client/queries.ts';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';
import { quotasQuery } from './queries.ts';

/** Returns the number in the text; null for an empty text, undefined for one that is no quota. */
function parseQuota(text: string, isAllowed: (value: number) => boolean): number | null | undefined {
  if (text.trim() === '') return null;
  const value = Number(text);
  return isAllowed(value) ? value : undefined;
}

const formatQuota = (value: number | null): string => (value === null ? '' : String(value));

interface QuotasDialogProps {
  quotas: Pick<Quotas, 'concurrent_runs' | 'core_hours_per_month'>;
  /** The application whose quotas change; absent for those of the account. */
  application?: string;
  onClose: () => void;
}

/** Changes the quotas of the account or of an application; an empty field removes a quota. */
export function QuotasDialog({ quotas, application, onClose }: QuotasDialogProps) {
  const [runsText, setRunsText] = useState(formatQuota(quotas.concurrent_runs));
  const [hoursText, setHoursText] = useState(formatQuota(quotas.core_hours_per_month));
  const runs = parseQuota(
    runsText,
    (value) => Number.isInteger(value) && value >= 1 && value <= CONCURRENT_RUNS_MAX,
  );
  const hours = parseQuota(hoursText, (value) => value >= 0 && value <= CORE_HOURS_MAX);
  const body = { concurrent_runs: runs ?? null, core_hours_per_month: hours ?? null };
  const params = application === undefined ? undefined : { application_id: application };
  return (
    <FormDialog
      title={application === undefined ? 'Quotas' : `Quotas of ${application}`}
      action="Save quotas"
      isReady={runs !== undefined && hours !== undefined}
      requests={[params === undefined ? ['setQuotas', { body }] : ['setApplicationQuotas', { params, body }]]}
      onClose={onClose}
      onSubmit={async () => {
        if (params === undefined) await client.call('setQuotas', { body });
        else await client.call('setApplicationQuotas', { params, body });
        await queryClient.invalidateQueries(quotasQuery);
        onClose();
      }}
    >
      <TextField
        label="Runs at once"
        value={runsText}
        onChange={setRunsText}
        autoFocus
        help={`A whole number from 1 to ${formatNumber(CONCURRENT_RUNS_MAX)}. Empty: no quota.`}
      />
      <TextField
        label="Core hours a month"
        value={hoursText}
        onChange={setHoursText}
        help="A number from 0. Empty: no quota."
      />
    </FormDialog>
  );
}
