import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import type { RunView } from '@switchyard/contract/runs/views/run-views.ts';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Header, Menu, MenuItem, MenuSection, MenuTrigger, Popover } from 'react-aria-components';
import { client, describeError } from '../../../client/client.ts';
import { queryClient } from '../../../client/queries.ts';
import { Button } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { useRight } from '../../../ui/use-right.ts';
import styles from './menu.module.css';
import { formatView, isSameTable, type RunsSearch } from './runs-search.ts';
import { DeleteViewDialog, RenameViewDialog, SaveViewDialog } from './view-dialogs.tsx';
import { viewsQuery } from './views-query.ts';

/** The actions on views, by the key of their menu item. */
const ACTIONS = ['save', 'save as', 'rename', 'share', 'delete', 'leave'] as const;
type Action = (typeof ACTIONS)[number];

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
  const choose = (key: unknown) => {
    const action = ACTIONS.find((one) => one === key);
    change.reset();
    if (action === 'save') change.mutate({ table });
    else if (action === 'share') change.mutate({ is_shared: !current?.is_shared });
    else if (action !== undefined && action !== 'leave') setDialog(action);
    else {
      const view = action === 'leave' ? {} : { view: String(key) };
      void navigate({ to: '/apps/$application/runs', params: { application }, search: view });
    }
  };
  const close = () => setDialog(undefined);
  const parts = { application, onSaved: () => refresh().then(close), onClose: close };
  return (
    <>
      <MenuTrigger isOpen={isOpen} onOpenChange={setOpen}>
        <Button kind="quiet">
          <span className={styles.value}>{current ? `View: ${escapeInvisible(current.name)}` : 'Views'}</span>
          {isChanged && ' (changed)'}
        </Button>
        <Popover placement="bottom end" className={styles.popover ?? ''}>
          <ViewItems views={views} current={current} isChanged={isChanged} onAction={choose} />
        </Popover>
      </MenuTrigger>
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
  onAction,
}: {
  views: readonly RunView[];
  current: RunView | undefined;
  isChanged: boolean;
  onAction: (key: unknown) => void;
}) {
  const actions = useActions(current, isChanged);
  const sections = [
    { label: 'My views', items: views.filter((view) => view.is_own && !view.is_shared) },
    { label: 'Shared views', items: views.filter((view) => view.is_shared) },
  ].filter(({ items }) => items.length > 0);
  return (
    <Menu aria-label="Views" onAction={onAction} className={styles.menu ?? ''}>
      {sections.map(({ label, items }) => (
        <MenuSection key={label} aria-label={label}>
          <Header className={styles.header ?? ''}>{label}</Header>
          {items.map(({ id, name }) => (
            <MenuItem key={id} id={id} textValue={name} className={styles.item ?? ''}>
              {escapeInvisible(name)}
            </MenuItem>
          ))}
        </MenuSection>
      ))}
      <MenuSection aria-label="Actions">
        {sections.length > 0 && <Header className={styles.header ?? ''}>Actions</Header>}
        {actions.map(([action, label]) => (
          <MenuItem key={action} id={action} className={styles.item ?? ''}>
            {label}
          </MenuItem>
        ))}
      </MenuSection>
    </Menu>
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
