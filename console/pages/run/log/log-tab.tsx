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
import { findLinesOfLevel, type LogLevel } from './read-level.ts';

const NO_LINES: readonly string[] = [];

export interface LogTabProps {
  address: RunAddress;
  status: RunStatusV2;
  /** The searched text of the address. */
  find: string;
  onFind: (find: string) => void;
  /** The least severity of the visible lines, from the address. */
  level: LogLevel | undefined;
  onSelectLevel: (level: LogLevel | undefined) => void;
}

/** The log of a run with a search. It grows while the run is active, and shows the end unless the person scrolls up. */
export function LogTab({ address, status, find, onFind, level, onSelectLevel }: LogTabProps) {
  const { data, error } = useQuery(logQuery(address, status));
  const [text, setText] = useState(find);
  const [position, setPosition] = useState(0);
  const [isFollowing, setFollowing] = useState(!isTerminal(status));
  const searched = useDeferredValue(text);
  const all = data ?? NO_LINES;
  const indexes = useMemo(() => findLinesOfLevel(all, level), [all, level]);
  const lines = useMemo(() => indexes?.map((index) => all[index] ?? '') ?? all, [all, indexes]);
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
        level={level}
        onSelectLevel={onSelectLevel}
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
        indexes={indexes}
        searched={searched}
        current={current}
        isFollowing={isFollowing}
        onFollow={setFollowing}
        emptyText={
          all.length > 0 ? NO_LINE_OF_LEVEL : data || !isTerminal(status) ? describeEmptyLog(status) : ''
        }
      />
    </div>
  );
}

const NO_LINE_OF_LEVEL = 'No line has this level. Levels are read from words such as `warning` and `error`.';

function describeEmptyLog(status: RunStatusV2): string {
  if (status === 'queued') return 'The log begins when the run starts.';
  return isTerminal(status)
    ? 'The app wrote no log. It logs what it prints to stderr.'
    : 'No line yet. The log shows what the app prints to stderr.';
}
