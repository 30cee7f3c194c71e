import { isTerminal, type RunStatusV2 } from '@switchyard/contract/states.ts';
import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useMemo, useState } from 'react';
import { describeError } from '../../../client/client.ts';
import { Notice } from '../../../ui/notice.tsx';
import type { RunAddress } from '../queries.ts';
import { findMatches } from './find-matches.ts';
import { LogLines } from './log-lines.tsx';
import { logQuery } from './log-query.ts';
import styles from './log-tab.module.css';
import { LogToolbar } from './log-toolbar.tsx';

const NO_LINES: readonly string[] = [];

export interface LogTabProps {
  address: RunAddress;
  status: RunStatusV2;
  /** The searched text of the address. */
  find: string;
  onFind: (find: string) => void;
}

/** The log of a run with a search. It grows while the run is active, and shows the end unless the person scrolls up. */
export function LogTab({ address, status, find, onFind }: LogTabProps) {
  const { data, error } = useQuery(logQuery(address, status));
  const [text, setText] = useState(find);
  const [position, setPosition] = useState(0);
  const [isFollowing, setFollowing] = useState(!isTerminal(status));
  const searched = useDeferredValue(text);
  const lines = data ?? NO_LINES;
  const matches = useMemo(() => findMatches(lines, searched), [lines, searched]);
  const current = matches[Math.min(position, matches.length - 1)];
  const search = (next: string) => {
    setText(next);
    setPosition(0);
    onFind(next);
  };
  const move = (step: number) => {
    setFollowing(false);
    setPosition((Math.min(position, matches.length - 1) + step + matches.length) % matches.length);
  };
  return (
    <div className={styles.tab}>
      <LogToolbar
        name={address.run}
        lines={lines}
        text={text}
        onSearch={search}
        matches={matches}
        position={Math.min(position, matches.length - 1)}
        onMove={move}
        isFollowing={isFollowing}
        onFollow={setFollowing}
      />
      {error && <Notice kind="error">{describeError(error)}</Notice>}
      <LogLines
        lines={lines}
        searched={searched}
        current={current}
        isFollowing={isFollowing}
        onFollow={setFollowing}
        emptyText={data || !isTerminal(status) ? describeEmptyLog(status) : ''}
      />
    </div>
  );
}

function describeEmptyLog(status: RunStatusV2): string {
  if (status === 'queued') return 'The log begins when the run starts.';
  return isTerminal(status)
    ? 'The app wrote no log. It logs what it prints to stderr.'
    : 'No line yet. The log shows what the app prints to stderr.';
}
