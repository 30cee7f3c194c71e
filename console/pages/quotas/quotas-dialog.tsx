import type { Quotas } from '@switchyard/contract/account/quotas.ts';
import { CONCURRENT_RUNS_MAX, CORE_HOURS_MAX } from '@switchyard/contract/limits.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { useQuery } from '@tanstack/react-query';
import { client, describeError } from '../../client/client.ts';
import { queryClient } from '../../client/queries.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { useEdit } from '../../ui/forms/conflicts/use-edit.ts';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { applicationQuotasQuery, quotasQuery } from './queries.ts';

/** Returns the number in the text; null for an empty text, undefined for one that is no quota. */
function parseQuota(text: string, isAllowed: (value: number) => boolean): number | null | undefined {
  if (text.trim() === '') return null;
  const value = Number(text);
  return isAllowed(value) ? value : undefined;
}

const formatQuota = (value: number | null): string => (value === null ? '' : String(value));

type QuotasState = Pick<Quotas, 'concurrent_runs' | 'core_hours_per_month' | 'updated_at'>;

/** Reads the quotas of the application, or those of the account. */
async function fetchQuotas(params: { application_id: string } | undefined): Promise<QuotasState> {
  if (params === undefined) return (await client.call('getQuotas')).body;
  return (await client.call('getApplicationQuotas', { params })).body;
}

interface ApplicationQuotasDialogProps {
  application: string;
  onClose: () => void;
}

/** Changes the quotas of an application, which may have had none so far. */
export function ApplicationQuotasDialog({ application, onClose }: ApplicationQuotasDialogProps) {
  const { data, error } = useQuery(applicationQuotasQuery(application));
  if (data) return <QuotasDialog quotas={data} application={application} onClose={onClose} />;
  return (
    <Dialog title={`Quotas of ${application}`} onClose={onClose}>
      {error ? <Notice kind="error">{describeError(error)}</Notice> : <p role="status">Loading…</p>}
    </Dialog>
  );
}

interface QuotasDialogProps {
  quotas: QuotasState;
  /** The application whose quotas change; absent for those of the account. */
  application?: string;
  onClose: () => void;
}

/** Changes the quotas of the account or of an application; an empty field removes a quota. */
export function QuotasDialog({ quotas, application, onClose }: QuotasDialogProps) {
  const params = application === undefined ? undefined : { application_id: application };
  const { draft, change, seen, load } = useEdit({
    resource: quotas,
    fetch: () => fetchQuotas(params),
    createDraft: ({ concurrent_runs, core_hours_per_month }) => ({
      runsText: formatQuota(concurrent_runs),
      hoursText: formatQuota(core_hours_per_month),
    }),
    labels: { runsText: 'Runs at once', hoursText: 'Core hours a month' },
  });
  const { runsText, hoursText } = draft;
  const runs = parseQuota(
    runsText,
    (value) => Number.isInteger(value) && value >= 1 && value <= CONCURRENT_RUNS_MAX,
  );
  const hours = parseQuota(hoursText, (value) => value >= 0 && value <= CORE_HOURS_MAX);
  const body = { concurrent_runs: runs ?? null, core_hours_per_month: hours ?? null };
  return (
    <FormDialog
      title={application === undefined ? 'Quotas' : `Quotas of ${application}`}
      action="Save quotas"
      missing={(runs === undefined || hours === undefined) && 'Correct the number'}
      requests={[params === undefined ? ['setQuotas', { body }] : ['setApplicationQuotas', { params, body }]]}
      onClose={onClose}
      onLoad={load}
      onSubmit={async () => {
        const conditional = { ...body, expected_updated_at: seen.updated_at };
        if (params === undefined) await client.call('setQuotas', { body: conditional });
        else await client.call('setApplicationQuotas', { params, body: conditional });
        await queryClient.invalidateQueries(quotasQuery);
        await queryClient.invalidateQueries({ queryKey: ['getApplicationQuotas'] });
        onClose();
      }}
    >
      <TextField
        label="Runs at once"
        value={runsText}
        onChange={(value) => change({ runsText: value })}
        error={runs === undefined ? 'Not a valid number.' : undefined}
        autoFocus
        help={`A whole number from 1 to ${formatNumber(CONCURRENT_RUNS_MAX)}. Empty: no quota.`}
      />
      <TextField
        label="Core hours a month"
        value={hoursText}
        onChange={(value) => change({ hoursText: value })}
        error={hours === undefined ? 'Not a valid number.' : undefined}
        help="A number from 0. Empty: no quota."
      />
    </FormDialog>
  );
}
