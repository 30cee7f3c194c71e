import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { Command } from 'cmdk';
import { useState } from 'react';
import { applicationsQuery } from '../client/applications.ts';
import { Dialog } from '../ui/dialog.tsx';
import { useOpenRun } from '../ui/run-link.tsx';
import styles from './command-palette.module.css';
import { findRunQuery, RUN_ID_PATTERN } from './find-run.ts';

interface Entry {
  label: string;
  /** Distinguishes entries of equal label, and is searched too. */
  id: string;
  open: () => unknown;
}

interface EntryGroup {
  heading: string;
  entries: readonly Entry[];
}

/** Returns the entries for what is typed. A run is looked for only by its whole id. */
function useEntryGroups(typed: string, onShowKeys: () => void): EntryGroup[] {
  const { application: current } = useParams({ strict: false });
  const navigate = useNavigate();
  const open = useOpenRun();
  const { data } = useQuery(applicationsQuery);
  const applications = data ?? [];
  const ids = applications.map(({ id }) => id);
  const { data: run } = useQuery({
    ...findRunQuery(typed, current === undefined ? ids : [current, ...ids]),
    enabled: RUN_ID_PATTERN.test(typed) && data !== undefined,
  });
  const buildOwnEntries = (application: string): Entry[] => [
    {
      label: 'Overview',
      id: `${application} overview`,
      open: () => navigate({ to: '/apps/$application', params: { application } }),
    },
    {
      label: 'Runs',
      id: `${application} runs`,
      open: () => navigate({ to: '/apps/$application/runs', params: { application } }),
    },
  ];
  const openRun = run && (() => open(run.application, run.run));
  return [
    { heading: 'Run', entries: openRun ? [{ label: run.run, id: run.run, open: openRun }] : [] },
    { heading: current ?? '', entries: current === undefined ? [] : buildOwnEntries(current) },
    {
      heading: 'Pages',
      entries: [
        { label: 'Applications', id: 'all applications', open: () => navigate({ to: '/' }) },
        { label: 'Queue', id: 'queue', open: () => navigate({ to: '/queue' }) },
        { label: 'Keyboard map', id: 'keyboard', open: onShowKeys },
      ],
    },
    {
      heading: 'Applications',
      entries: applications.map(({ id, name }) => ({
        label: name,
        id,
        open: () => navigate({ to: '/apps/$application', params: { application: id } }),
      })),
    },
  ];
}

/** Finds pages, applications and runs by what is typed. The arrow keys choose, Enter opens. */
export function CommandPalette({ onClose, onShowKeys }: { onClose: () => void; onShowKeys: () => void }) {
  const [typed, setTyped] = useState('');
  const groups = useEntryGroups(typed.trim(), onShowKeys);
  const choose = (entry: Entry) => {
    onClose();
    entry.open();
  };
  return (
    <Dialog title="Command palette" onClose={onClose}>
      <Command label="Command palette" className={styles.palette}>
        <Command.Input
          className={styles.input}
          placeholder="Page, application or run id"
          value={typed}
          onValueChange={setTyped}
          autoFocus
        />
        <Command.List className={styles.list} label="Results">
          <Command.Empty className={styles.empty}>Nothing matches.</Command.Empty>
          {groups.map(({ heading, entries }) => (
            <Entries key={heading} heading={heading} entries={entries} onChoose={choose} />
          ))}
        </Command.List>
      </Command>
    </Dialog>
  );
}

function Entries({
  heading,
  entries,
  onChoose,
}: {
  heading: string;
  entries: readonly Entry[];
  onChoose: (entry: Entry) => void;
}) {
  if (entries.length === 0) return null;
  return (
    <Command.Group heading={heading} className={styles.group ?? ''}>
      {entries.map((entry) => (
        <Command.Item
          key={entry.id}
          value={`${heading} ${entry.id}`}
          keywords={[entry.label]}
          onSelect={() => onChoose(entry)}
          className={styles.item ?? ''}
        >
          {entry.label}
          {heading === 'Applications' && <code>{entry.id}</code>}
        </Command.Item>
      ))}
    </Command.Group>
  );
}
