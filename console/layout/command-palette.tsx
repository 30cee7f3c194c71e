import { RUN_CONDITIONS_MAX, RUN_NAME_CHARS_MAX } from '@switchyard/contract/limits.ts';
import { hasRight } from '@switchyard/contract/roles.ts';
import { keepPreviousData, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { Command } from 'cmdk';
import { useDeferredValue, useState } from 'react';
import { applicationSearchQuery } from '../client/applications.ts';
import { containsWords } from '../client/contains-words.ts';
import { operationQuery } from '../client/queries.ts';
import { accountQuery } from '../client/session.ts';
import { Dialog } from '../ui/dialog.tsx';
import { useOpenRun } from '../ui/run-link.tsx';
import styles from './command-palette.module.css';
import { findRunQuery, RUN_ID_PATTERN } from './find-run.ts';
import { ACCOUNT_PAGES, ADMINISTRATOR_PAGES, APPLICATION_PAGES, PLATFORM_PAGES } from './pages.ts';

/** More than the palette shows without scrolling; the table of runs lists all. */
const RUNS_MAX = 8;
const WORD_PATTERN = /[\p{L}\p{N}]+/gu;

/** Returns true for words that the server searches for. One letter finds too much, and every id begins with `run-`. */
function isSearchable(text: string): boolean {
  const words = text.replaceAll(/\brun-/gi, ' ').match(WORD_PATTERN) ?? [];
  return words.some((word) => word.length > 1) && words.length <= RUN_CONDITIONS_MAX;
}

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

/** Returns the saved views of the application; none outside of one. */
function useViewEntries(application: string | undefined): EntryGroup {
  const navigate = useNavigate();
  const params = { application: application ?? '' };
  const { data } = useQuery({
    ...operationQuery('listRunViews', { params: { application_id: params.application } }),
    enabled: application !== undefined,
  });
  const entries = (data?.items ?? []).map(({ id, name }) => ({
    label: name,
    id,
    open: () => navigate({ to: '/apps/$application/runs', params, search: { view: id } }),
  }));
  return { heading: 'Views', entries };
}

/** Returns the newest runs of the application whose name or id has words that begin with what is typed. */
function useRunEntries(application: string | undefined, typed: string): Entry[] {
  const open = useOpenRun();
  const text = useDeferredValue(typed).slice(0, RUN_NAME_CHARS_MAX);
  const { data } = useQuery({
    ...operationQuery('listRuns', {
      params: { application_id: application ?? '' },
      query: { text, limit: RUNS_MAX },
    }),
    enabled: application !== undefined && isSearchable(text),
  });
  return (data?.runs ?? []).map(({ id, name }) => ({
    label: name === '' ? id : name,
    id,
    open: () => open(application ?? '', id),
  }));
}

/**
 * Returns the entries for what is typed. Of the current application a run is found by name and by the beginning of its id,
 * of others by its whole id.
 */
function useEntryGroups(typed: string, onShowKeys: () => void): EntryGroup[] {
  const { application: current } = useParams({ strict: false });
  const navigate = useNavigate();
  const { data: account } = useSuspenseQuery(accountQuery);
  const managesAccount = hasRight(account.key.role, 'account');
  const open = useOpenRun();
  const isRunId = RUN_ID_PATTERN.test(typed);
  const { data } = useQuery({
    ...applicationSearchQuery(useDeferredValue(isRunId ? '' : typed)),
    placeholderData: keepPreviousData,
  });
  const applications = data?.items ?? [];
  const ids = applications.map(({ id }) => id);
  const { data: run } = useQuery({
    ...findRunQuery(typed, current === undefined ? ids : [current, ...ids]),
    enabled: isRunId && data !== undefined,
  });
  const buildOwnEntries = (application: string): Entry[] =>
    APPLICATION_PAGES.filter((page) => !('right' in page) || hasRight(account.key.role, page.right)).map(
      ({ label, to }) => ({
        label,
        id: `${application} ${label}`,
        open: () => navigate({ to, params: { application } }),
      }),
    );
  const pages = [...PLATFORM_PAGES, ...ACCOUNT_PAGES, ...(managesAccount ? ADMINISTRATOR_PAGES : [])];
  const views = useViewEntries(current);
  const found = useRunEntries(current, typed);
  const whole = run ? [{ label: run.run, id: run.run, open: () => open(run.application, run.run) }] : [];
  return [
    { heading: 'Runs', entries: [...whole, ...found.filter(({ id }) => id !== run?.run)] },
    { heading: current ?? '', entries: current === undefined ? [] : buildOwnEntries(current) },
    views,
    {
      heading: 'Pages',
      entries: [
        ...pages.map(({ label, to }) => ({ label, id: `page ${label}`, open: () => navigate({ to }) })),
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

/**
 * Returns 1 for an entry that contains every typed word, and 0 for any other. The fuzzy filter of cmdk found "Marketplace" for
 * "small". Enter then opened that page instead of the application.
 */
function matchWords(value: string, typed: string, keywords: readonly string[] = []): number {
  return containsWords([value, ...keywords].join(' '), typed) ? 1 : 0;
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
      <Command label="Command palette" className={styles.palette} filter={matchWords}>
        <Command.Input
          className={styles.input}
          placeholder="Page, view, application or run"
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
          <bdi>{entry.label}</bdi>
          {(heading === 'Applications' || (heading === 'Runs' && entry.label !== entry.id)) && (
            <code>{entry.id}</code>
          )}
        </Command.Item>
      ))}
    </Command.Group>
  );
}
