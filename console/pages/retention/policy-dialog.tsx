import type {
  ApplicationStorage,
  RetentionPolicy,
  RetentionPreview,
} from '@switchyard/contract/applications/retention.ts';
import { RETENTION_DAYS_MAX } from '@switchyard/contract/limits.ts';
import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { formatBytes, formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { client, describeError } from '../../client/client.ts';
import { queryClient } from '../../client/queries.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { useEdit } from '../../ui/forms/conflicts/use-edit.ts';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { RunLink } from '../../ui/run-link.tsx';
import { policyQuery, previewQuery, storageQuery } from './queries.ts';
import styles from './retention-page.module.css';

/** The word that the person types before a policy deletes runs. */
const CONFIRMATION = 'delete';

interface FormProps {
  application: string;
  title: string;
  policy: RetentionPolicy;
  onClose: () => void;
}

/** Changes the policy of an application. It can be saved once its effect is shown. */
export function PolicyDialog({ storage, onClose }: { storage: ApplicationStorage; onClose: () => void }) {
  const { application_id: application, application_name: name } = storage;
  const { data: policy, error } = useQuery(policyQuery(application));
  const title = `Policy of ${escapeInvisible(name)}`;
  if (policy) return <PolicyForm {...{ title, application, policy, onClose }} />;
  return (
    <Dialog title={title} onClose={onClose}>
      {error ? <Notice kind="error">{describeError(error)}</Notice> : <p role="status">Loading…</p>}
    </Dialog>
  );
}

/** Returns the number of days in the text; null for an empty text, undefined for one that is no such number. */
function parseDays(text: string): number | null | undefined {
  if (text.trim() === '') return null;
  const days = Number(text);
  return Number.isInteger(days) && days >= 1 && days <= RETENTION_DAYS_MAX ? days : undefined;
}

/** The values of the form, on the state of the policy that the person has seen. */
function usePolicyEdit(application: string, policy: RetentionPolicy) {
  const params = { application_id: application };
  return useEdit({
    resource: policy,
    fetch: async () => (await client.call('getRetention', { params })).body,
    createDraft: ({ keep_days, keep_experiment_runs }) => ({
      text: keep_days === null ? '' : String(keep_days),
      keepsExperiments: keep_experiment_runs,
    }),
    labels: { text: 'Days that a run stays', keepsExperiments: 'Keep runs of experiments' },
  });
}

/** Shows the saved policy in the form and in the table, which is measured at most once in some minutes. */
async function showPolicy(application: string, keep_days: number | null): Promise<void> {
  await queryClient.invalidateQueries({ queryKey: policyQuery(application).queryKey });
  queryClient.setQueryData(
    storageQuery.queryKey,
    (storage) =>
      storage && {
        ...storage,
        items: storage.items.map((item) =>
          item.application_id === application ? { ...item, keep_days } : item,
        ),
      },
  );
}

function PolicyForm({ title, application, policy, onClose }: FormProps) {
  const params = { application_id: application };
  const { draft, change, seen, load } = usePolicyEdit(application, policy);
  const { text, keepsExperiments } = draft;
  const days = parseDays(text);
  const rule = useDeferredValue({ keepDays: days ?? 1, keepExperimentRuns: keepsExperiments });
  const preview = useQuery({
    ...previewQuery(application, rule),
    enabled: typeof days === 'number' && rule.keepDays === days,
    placeholderData: keepPreviousData,
  });
  const isPreviewed = preview.isSuccess && !preview.isPlaceholderData;
  const [confirmation, setConfirmation] = useState('');
  const deletes = typeof days === 'number' && isPreviewed && preview.data.runs > 0;
  const isConfirmed = !deletes || confirmation.trim() === CONFIRMATION;
  const request = {
    params,
    body: { keep_days: days ?? null, keep_experiment_runs: keepsExperiments },
  };
  return (
    <FormDialog
      title={title}
      action="Save policy"
      missing={
        (days === undefined && 'Give a number of days') ||
        (days !== null && !isPreviewed && 'Wait for the preview') ||
        (days !== null && !isConfirmed && 'Confirm the deletion')
      }
      requests={[['setRetention', request]]}
      onClose={onClose}
      onLoad={load}
      onSubmit={async () => {
        await client.call('setRetention', {
          params,
          body: { ...request.body, expected_updated_at: seen.updated_at },
        });
        await showPolicy(application, days ?? null);
        onClose();
      }}
    >
      <TextField
        label="Days that a run stays after its end"
        value={text}
        onChange={(value) => change({ text: value })}
        error={days === undefined ? 'Not a valid number.' : undefined}
        autoFocus
        help={`From 1 to ${RETENTION_DAYS_MAX}. Empty: runs stay. Tagged runs always stay.`}
      />
      <label className={styles.choice}>
        <input
          type="checkbox"
          checked={keepsExperiments}
          onChange={(event) => change({ keepsExperiments: event.target.checked })}
        />
        Keep runs of experiments
      </label>
      {preview.error && <Notice kind="error">{describeError(preview.error)}</Notice>}
      {typeof days === 'number' && preview.data && <Effect application={application} effect={preview.data} />}
      {deletes && (
        <TextField
          label={`Type ${CONFIRMATION} to confirm`}
          help="Deleted runs cannot be restored."
          value={confirmation}
          onChange={setConfirmation}
        />
      )}
    </FormDialog>
  );
}

/** Says what a policy would delete now, and which old runs stay. */
function Effect({ application, effect }: { application: string; effect: RetentionPreview }) {
  const { runs, bytes, oldest, retained, examples, is_complete } = effect;
  const staying = [
    retained.tagged > 0 && `${formatNumber(retained.tagged)} tagged`,
    retained.of_experiments > 0 && `${formatNumber(retained.of_experiments)} of experiments`,
    retained.in_use > 0 && `${formatNumber(retained.in_use)} in use`,
  ].filter((one) => one !== false);
  return (
    <div className={styles.effect} role="status">
      <p>
        {runs === 0 ? (
          'It deletes no run now.'
        ) : (
          <>
            It deletes <strong>{formatNumber(runs)}</strong> {runs === 1 ? 'run' : 'runs'} now,{' '}
            {formatBytes(bytes)}
            {oldest !== null && (
              <>
                , the oldest from <RelativeTime at={oldest} />
              </>
            )}
            .
          </>
        )}{' '}
        {!is_complete && 'Only the oldest runs are counted; there may be more.'}
      </p>
      {staying.length > 0 && <p className="meta">Old runs that stay: {staying.join(', ')}.</p>}
      {examples.length > 0 && (
        <ul className={styles.examples} aria-label="Examples">
          {examples.slice(0, VISIBLE_EXAMPLES).map((run) => (
            <li key={run.id}>
              <RunLink application={application} run={run.id}>
                {run.name || run.id}
              </RunLink>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

const VISIBLE_EXAMPLES = 5;
