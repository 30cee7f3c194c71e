import { Icon } from '@switchyard/design/icon.tsx';
import type { KeyboardEvent } from 'react';
import { Button as AriaButton, ToggleButton } from 'react-aria-components';
import { formatNumber } from '../../../ui/format-quantity.ts';
import styles from './log-tab.module.css';
import { LOG_LEVELS, type LogLevel } from './read-level.ts';

export interface LogToolbarProps {
  /** Name of the downloaded file without its ending. */
  name: string;
  lines: readonly string[];
  level: LogLevel | undefined;
  onSelectLevel: (level: LogLevel | undefined) => void;
  text: string;
  onSearch: (text: string) => void;
  matches: readonly number[];
  /** Index of the current match. */
  position: number;
  onMove: (step: number) => void;
  isFollowing: boolean;
  onFollow: (isFollowing: boolean) => void;
}

/** The search in the log, the download, and the switch that follows its end. */
export function LogToolbar(props: LogToolbarProps) {
  const { text, matches, position, onMove } = props;
  const moveByKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && matches.length > 0) onMove(event.shiftKey ? -1 : 1);
  };
  return (
    <div className={styles.toolbar}>
      <input
        type="search"
        className={styles.search}
        aria-label="Search the log"
        placeholder="Search the log"
        value={text}
        onChange={(event) => props.onSearch(event.target.value)}
        onKeyDown={moveByKey}
      />
      <select
        className={styles.level}
        aria-label="Level"
        value={props.level ?? ''}
        onChange={({ target }) => props.onSelectLevel(LOG_LEVELS.find((one) => one === target.value))}
      >
        <option value="">All lines</option>
        <option value="warning">Warnings and errors</option>
        <option value="error">Errors</option>
      </select>
      <span className={styles.count} role="status">
        {text === ''
          ? `${formatNumber(props.lines.length)} ${props.lines.length === 1 ? 'line' : 'lines'}`
          : `${matches.length === 0 ? 0 : position + 1} of ${formatNumber(matches.length)}`}
      </span>
      <AriaButton
        className="icon-button"
        aria-label="Previous match"
        isDisabled={matches.length === 0}
        onPress={() => onMove(-1)}
      >
        <Icon name="previous" />
      </AriaButton>
      <AriaButton
        className="icon-button"
        aria-label="Next match"
        isDisabled={matches.length === 0}
        onPress={() => onMove(1)}
      >
        <Icon name="next" />
      </AriaButton>
      <ToggleButton className={styles.toggle ?? ''} isSelected={props.isFollowing} onChange={props.onFollow}>
        Follow the end
      </ToggleButton>
      <AriaButton
        className="icon-button"
        aria-label="Download the log"
        onPress={() => downloadText(`${props.name}.log`, props.lines)}
      >
        <Icon name="download" />
      </AriaButton>
    </div>
  );
}

function downloadText(name: string, lines: readonly string[]): void {
  const url = URL.createObjectURL(new Blob([lines.join('\n'), '\n'], { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
