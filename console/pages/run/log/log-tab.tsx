import { LEVEL_PATTERNS } from '@switchyard/contract/runs/logs/log-levels.ts';
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { isTerminal, type RunStatusV2 } from '@switchyard/contract/states.ts';
import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useMemo, useState } from 'react';
import { describeError } from '../../../client/client.ts';
import { Button } from '../../../ui/button.tsx';
import { createTextPattern, findPositions } from '../../../ui/log/find-matches.ts';
import { Notice } from '../../../ui/notice.tsx';
import type { RunAddress } from '../queries.ts';
import { FollowControl, FreshLines, useFollowing } from './follow-control.tsx';
import { LogLines } from './log-lines.tsx';
import { logQuery, NO_LOG } from './log-query.ts';
import type { LogSearch } from './log-search.ts';
import styles from './log-tab.module.css';
import type { LogText } from './log-text.ts';
import { findFirstStart } from './log-times.ts';
import { LogToolbar } from './log-toolbar.tsx';

export interface LogTabProps {
  address: RunAddress;
  run: RunInformation;
  /** The search parameters of the log, which are its state. */
  search: LogSearch;
  onChange: (change: { [Name in keyof LogSearch]: LogSearch[Name] | undefined }) => void;
}

/** The log of a run with a search. It grows while the run is active, and shows the end unless the person scrolls up. */
export function LogTab({ address, run, search, onChange }: LogTabProps) {
  const status = run.status_v2;
  const { data, error } = useQuery(logQuery(address, status));
  const [typed, setTyped] = useState(search.find ?? '');
  const [position, setPosition] = useState(0);
  const { text, times, isPartial } = data ?? NO_LOG;
  const following = useFollowing(!isTerminal(status) && search.line === undefined, text.lineCount);
  const { isFollowing, setFollowing } = following;
  const view = useVisibleLines(text, search, useDeferredValue(typed));
  const match = Math.min(position, view.matches.length - 1);
  const choose = (line: number | undefined) => {
    setFollowing(false);
    onChange({ line });
  };
  return (
    <div className={styles.tab}>
      <LogToolbar
        address={address}
        log={text}
        isPartial={isPartial}
        hasTimes={!times.isEmpty}
        indexes={view.indexes}
        search={search}
        onChange={onChange}
        onChooseLine={choose}
        typed={typed}
        onType={(find) => {
          setTyped(find);
          setPosition(0);
          onChange({ find: find === '' ? undefined : find });
        }}
        matchCount={view.matches.length}
        match={match}
        onMove={(step) => {
          setFollowing(false);
          setPosition((match + step + view.matches.length) % view.matches.length);
        }}
        following={
          isTerminal(status) ? (
            <Button kind="quiet" onPress={() => setFollowing(true)}>
              Go to the end
            </Button>
          ) : (
            <FollowControl {...following} />
          )
        }
      />
      {error && <Notice kind="error">{describeError(error)}</Notice>}
      <LogLines
        // Lines that wrap differ in height, so the list measures all of them again.
        key={search.wrap ? 'wrapped' : 'single'}
        log={text}
        indexes={view.indexes}
        times={times}
        start={findFirstStart(run) ?? times.find(0)}
        search={search}
        searched={view.searched}
        current={view.matches[match]}
        chosen={view.chosen}
        onChooseLine={choose}
        isFollowing={isFollowing}
        onFollow={setFollowing}
        emptyText={
          text.lineCount > 0 ? NO_LINE_OF_LEVEL : data || !isTerminal(status) ? describeEmptyLog(status) : ''
        }
      />
      {!isTerminal(status) && <FreshLines {...following} />}
    </div>
  );
}

/** Returns the lines of the level, and the positions among them of the matches and of the chosen line. */
function useVisibleLines(text: LogText, { level, line }: LogSearch, searched: string) {
  const indexes = useMemo(
    () => (level === undefined ? undefined : text.findLines(LEVEL_PATTERNS[level])),
    [text, level],
  );
  const matches = useMemo(() => {
    const pattern = createTextPattern(searched);
    const found = pattern === null ? [] : text.findLines(pattern);
    return indexes === undefined ? found : findPositions(indexes, found);
  }, [text, indexes, searched]);
  const index = line === undefined || line > text.lineCount ? undefined : line - 1;
  const chosen = index === undefined || !indexes ? index : findPositions(indexes, [index])[0];
  return { indexes, matches, searched, chosen };
}

const NO_LINE_OF_LEVEL = 'No line has this level. Levels are read from words such as `warning` and `error`.';

function describeEmptyLog(status: RunStatusV2): string {
  if (status === 'queued') return 'The log begins when the run starts.';
  return isTerminal(status)
    ? 'The app wrote no log. It logs what it prints to stderr.'
    : 'No line yet. The log shows what the app prints to stderr.';
}
