import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import type { RunView } from '@switchyard/contract/runs/views/run-views.ts';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client, describeError } from '../../../client/client.ts';
import { queryClient } from '../../../client/queries.ts';
import { formatButtonClass } from '../../../ui/button.tsx';
import { DropMenu } from '../../../ui/menu.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { useRight } from '../../../ui/use-right.ts';
import styles from './menu.module.css';
import { formatView, isSameTable, type RunsSearch } from './runs-search.ts';
import { DeleteViewDialog, RenameViewDialog, SaveViewDialog } from './view-dialogs.tsx';
import { viewsQuery } from './views-query.ts';

type Action = 'save' | 'save as' | 'rename' | 'share' | 'delete' | 'leave';

interface ViewsMenuProps {
  application: string;
  search: RunsSearch;
}

/** A menu of the saved views. Its button names the open one, and says whether the table has changed since. */
export function ViewsMenu({ application, search }: ViewsMenuProps) {
  const [isOpen, setOpen] = useState(false);
  const { data } = useQuery({
    ...viewsQuery(application),
    enabled: isOpen || search.view !== undefined,
  });
  const [dialog, setDialog] = useState<Action>();
  const navigate = useNavigate();
  const views = data?.items ?? [];
  const current = views.find(({ id }) => id === search.view);
  const table = formatView(search);
  const isChanged = current !== undefined && !isSameTable(current.table, table);
  const refresh = () => queryClient.invalidateQueries(viewsQuery(application));
  const change = useMutation({
    mutationFn: (body: { table: typeof table } | { is_shared: boolean }) =>
      client.call('updateRunView', {
        params: { application_id: application, view_id: current?.id ?? '' },
        body: { ...body, expected_updated_at: current?.updated_at ?? null },
      }),
    onSettled: refresh,
  });
  const open = (view: string | undefined) =>
    navigate({
      to: '/apps/$application/runs',
      params: { application },
      search: view === undefined ? {} : { view },
    });
  const choose = (action: Action) => {
    change.reset();
    if (action === 'save') change.mutate({ table });
    else if (action === 'share') change.mutate({ is_shared: !current?.is_shared });
    else if (action === 'leave') void open(undefined);
    else setDialog(action);
  };
  const close = () => setDialog(undefined);
  const parts = { application, onSaved: () => refresh().then(close), onClose: close };
  return (
    <>
      <DropMenu
        className={formatButtonClass('quiet')}
        onOpenChange={setOpen}
        button={
          <>
            <span className={styles.value}>
              {current ? `View: ${escapeInvisible(current.name)}` : 'Views'}
            </span>
            {isChanged && ' (changed)'}
          </>
        }
      >
        <ViewItems views={views} current={current} isChanged={isChanged} onOpen={open} onAction={choose} />
      </DropMenu>
      {change.isError && <Notice kind="error">{describeError(change.error)}</Notice>}
      {dialog === 'save as' && <SaveViewDialog {...parts} table={table} />}
      {dialog === 'rename' && current && <RenameViewDialog {...parts} view={current} />}
      {dialog === 'delete' && current && <DeleteViewDialog {...parts} view={current} />}
    </>
  );
}

function ViewItems({
  views,
  current,
  isChanged,
  onOpen,
  onAction,
}: {
  views: readonly RunView[];
  current: RunView | undefined;
  isChanged: boolean;
  onOpen: (view: string) => unknown;
  onAction: (action: Action) => void;
}) {
  const actions = useActions(current, isChanged);
  const sections = [
    { label: 'My views', items: views.filter((view) => view.is_own && !view.is_shared) },
    { label: 'Shared views', items: views.filter((view) => view.is_shared) },
  ].filter(({ items }) => items.length > 0);
  return (
    <>
      {sections.map(({ label, items }) => (
        <section key={label} aria-label={label}>
          <p className={styles.header}>{label}</p>
          {items.map(({ id, name }) => (
            <button key={id} type="button" aria-pressed={id === current?.id} onClick={() => onOpen(id)}>
              {escapeInvisible(name)}
            </button>
          ))}
        </section>
      ))}
      {sections.length > 0 && <p className={styles.header}>Actions</p>}
      {actions.map(([action, label]) => (
        <button key={action} type="button" onClick={() => onAction(action)}>
          {label}
        </button>
      ))}
    </>
  );
}

/** Returns the actions that the reader may use on the open view, with their labels. */
function useActions(current: RunView | undefined, isChanged: boolean): [Action, string][] {
  const maySave = useRight('views');
  const managesAccount = useRight('account');
  const mayChange = maySave && (current?.is_own || managesAccount);
  const changes: [Action, string][] = current
    ? [
        ['rename', 'Rename …'],
        ['share', current.is_shared ? 'Make private' : 'Share with the account'],
        ['delete', 'Delete …'],
      ]
    : [];
  return [
    ...(mayChange && isChanged ? [['save', 'Save changes'] satisfies [Action, string]] : []),
    ...(maySave ? [['save as', 'Save as …'] satisfies [Action, string]] : []),
    ...(mayChange ? changes : []),
    ...(current ? [['leave', 'Show all runs'] satisfies [Action, string]] : []),
  ];
}
