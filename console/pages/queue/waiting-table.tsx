import type { ActiveRun } from '@switchyard/contract/runs/run-schemas.ts';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type DragEvent, useId, useState } from 'react';
import { describeError } from '../../client/client.ts';
import { containsWords } from '../../client/contains-words.ts';
import { Button } from '../../ui/button.tsx';
import { DataTable } from '../../ui/data-table/data-table.tsx';
import { SearchField } from '../../ui/forms/search-field.tsx';
import { SelectField } from '../../ui/forms/text-field.tsx';
import { MoreMenu } from '../../ui/menu.tsx';
import { Notice } from '../../ui/notice.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { formatWaiting } from '../../ui/resources/format-waiting.ts';
import { formatStartAbsence, PredictedStart } from '../../ui/resources/predicted-start.tsx';
import { PRIORITIES } from '../../ui/resources/priorities.ts';
import { RunLink } from '../../ui/run-link.tsx';
import { DROP_REFUSAL, findDropPriority } from './drop-priority.ts';
import type { OnCancel } from './lanes.tsx';
import { usePriorityChange } from './queries.ts';
import styles from './queue-page.module.css';

interface WaitingTableProps {
  /** In queue order. */
  runs: readonly ActiveRun[];
  onCancel: OnCancel;
}

/**
 * The runs that wait, with the reason and the priority. The person changes it by the field, by "Run next", or drags the run to
 * another place.
 */
export function WaitingTable({ runs, onCancel }: WaitingTableProps) {
  const heading = useId();
  const change = usePriorityChange();
  const [dragged, setDragged] = useState<ActiveRun | null>(null);
  const [over, setOver] = useState('');
  const [isRefused, setRefused] = useState(false);
  const { visible, fields } = useSearchAmong(runs);
  const move = (run: ActiveRun, target: ActiveRun | undefined) => {
    const priority = target ? findDropPriority(runs, run, target) : null;
    setRefused(priority === null);
    if (priority !== null) change.mutate({ run, priority });
  };
  const isFree = (run: ActiveRun) => dragged !== null && findDropPriority(runs, dragged, run) !== null;
  return (
    <section aria-labelledby={heading}>
      <div className={styles.head}>
        <h2 id={heading}>Waiting</h2>
        {runs.length > 0 && fields}
      </div>
      {isRefused && <Notice kind="warning">{DROP_REFUSAL}</Notice>}
      {change.isError && <Notice kind="error">{describeError(change.error)}</Notice>}
      {visible.length === 0 ? (
        <p className="soft">{runs.length === 0 ? 'No runs are waiting.' : 'No waiting run matches.'}</p>
      ) : (
        <DataTable
          label="Waiting"
          rows={visible}
          rowProps={(run) => ({
            className: over === run.id && isFree(run) ? styles.target : undefined,
            onDragOver: (event) => {
              setOver(run.id);
              // The browser refuses a drop without this. A drop that has no priority says why.
              if (dragged && dragged.id !== run.id) event.preventDefault();
            },
            onDragLeave: () => setOver(''),
            onDrop: (event) => {
              setOver('');
              event.preventDefault();
              if (dragged && dragged.id !== run.id) move(dragged, run);
            },
          })}
          columns={[
            {
              title: '#',
              kind: 'number',
              onPhone: 'hidden',
              cell: (run) => (
                <>
                  {onCancel && (
                    <DragHandle
                      onStart={() => {
                        setDragged(run);
                        setRefused(false);
                      }}
                      onEnd={() => setDragged(null)}
                    />
                  )}
                  {run.waiting?.place}
                </>
              ),
            },
            {
              title: 'Run',
              hover: ({ name, id }) => name || id,
              cell: ({ id, name, application_id }) => (
                <RunLink application={application_id} run={id}>
                  <bdi>{name || id}</bdi>
                </RunLink>
              ),
              note: (run) => (
                <span title={run.execution_class}>
                  <bdi>{run.application_name}</bdi> · {run.application_instance_id || 'latest'} ·{' '}
                  <RelativeTime at={run.created_at} />
                </span>
              ),
            },
            {
              title: 'Why it waits',
              wraps: true,
              onPhone: 'plain',
              hover: ({ waiting }) => waiting?.message,
              cell: ({ waiting }) => waiting && formatWaiting(waiting),
            },
            {
              title: 'Starts',
              wraps: true,
              onPhone: 'plain',
              cell: ({ waiting }) =>
                waiting?.predicted_start ? (
                  <PredictedStart range={waiting.predicted_start} />
                ) : (
                  waiting?.predicted_start_absence && formatStartAbsence(waiting.predicted_start_absence)
                ),
            },
            {
              title: 'Priority',
              kind: 'number',
              onPhone: 'hidden',
              cell: (run) => (onCancel ? <PriorityField run={run} change={change} /> : run.queuing_priority),
            },
            onCancel && {
              title: 'Actions',
              kind: 'actions',
              cell: (run) => (
                <div className={styles.does}>
                  {run.id !== runs[0]?.id && (
                    <Button
                      kind="quiet"
                      onPress={() => move(run, runs[0])}
                      aria-label={`Run next: ${run.name || run.id}`}
                    >
                      Run next
                    </Button>
                  )}
                  <MoreMenu label={`More actions on ${run.name || run.id}`}>
                    <Button onPress={() => onCancel(run)}>Cancel the run …</Button>
                  </MoreMenu>
                </div>
              ),
            },
          ]}
        />
      )}
    </section>
  );
}

/** Returns the runs that match the address, and the fields that change it. */
function useSearchAmong(runs: readonly ActiveRun[]) {
  const { text = '', application = '' } = useSearch({ from: '/signed-in/queue' });
  const navigate = useNavigate({ from: '/queue' });
  const names = new Map(runs.map((run) => [run.application_id, run.application_name]));
  const applications = [...names].map(([value, label]) => ({ value, label }));
  const visible = runs.filter(
    (run) =>
      (application === '' || run.application_id === application) &&
      containsWords(`${run.name} ${run.id} ${run.user_email}`, text),
  );
  const change = (changed: { text?: string | undefined; application?: string | undefined }) =>
    void navigate({ search: (search) => ({ ...search, ...changed }), replace: true });
  const fields = (
    <search className={styles.fields}>
      {(applications.length > 1 || application !== '') && (
        <SelectField
          label="Application"
          value={application}
          options={[{ value: '', label: 'all' }, ...applications]}
          onChange={(chosen) => change({ application: chosen || undefined })}
        />
      )}
      <SearchField
        label="Search the queue"
        example="Name, id, user"
        value={text}
        isLive
        onChange={(typed) => change({ text: typed })}
      />
    </search>
  );
  return { visible, fields };
}

/** Drags its row. Without a pointer, the field of the priority does the same. */
function DragHandle({ onStart, onEnd }: { onStart: () => void; onEnd: () => void }) {
  const start = (event: DragEvent): void => {
    const row = event.currentTarget.closest('tr');
    if (row) event.dataTransfer.setDragImage(row, 0, 0);
    event.dataTransfer.effectAllowed = 'move';
    // Firefox starts no drag without data.
    event.dataTransfer.setData('text/plain', '');
    onStart();
  };
  return (
    <span
      className={styles.handle}
      aria-hidden="true"
      title="Drag to change the priority"
      draggable
      onDragStart={start}
      onDragEnd={onEnd}
    >
      ⠿
    </span>
  );
}

interface PriorityFieldProps {
  run: ActiveRun;
  change: ReturnType<typeof usePriorityChange>;
}

/** Changes the priority of a run at once, also by the arrow keys. */
function PriorityField({ run, change }: PriorityFieldProps) {
  const isOwn = change.variables?.run.id === run.id;
  return (
    <select
      aria-label={`Priority of ${run.name || run.id}`}
      value={isOwn && change.isPending ? change.variables?.priority : run.queuing_priority}
      onChange={(event) => change.mutate({ run, priority: Number(event.target.value) })}
    >
      {PRIORITIES.map((priority) => (
        <option key={priority} value={priority}>
          {priority}
        </option>
      ))}
    </select>
  );
}
