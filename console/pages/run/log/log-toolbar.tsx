import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { LEAST_LOG_LEVELS } from '@switchyard/contract/runs/logs/log-levels.ts';
import { Icon } from '@switchyard/design/icon.tsx';
import type { KeyboardEvent, ReactNode } from 'react';
import { saveFile } from '../../../ui/content/save-file.ts';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { LEVEL_OPTIONS } from '../../../ui/log/level-options.ts';
import type { RunAddress } from '../queries.ts';
import type { LogSearch } from './log-search.ts';
import styles from './log-tab.module.css';
import type { LogText } from './log-text.ts';
import { TIME_MODES } from './log-times.ts';

export interface LogToolbarProps {
  address: RunAddress;
  log: LogText;
  /** True while more lines of an ended run arrive. */
  isPartial: boolean;
  hasTimes: boolean;
  /** The indexes of the visible lines in the log; undefined when these are all. */
  indexes: readonly number[] | undefined;
  search: LogSearch;
  onChange: (change: { [Name in keyof LogSearch]: LogSearch[Name] | undefined }) => void;
  onChooseLine: (line: number | undefined) => void;
  typed: string;
  onType: (text: string) => void;
  matchCount: number;
  /** Index of the current match. */
  match: number;
  onMove: (step: number) => void;
  /** The choice between following the end and standing still. */
  following: ReactNode;
}

/** The search in the log, the way to a line, what is shown of each line, and the download. */
export function LogToolbar(props: LogToolbarProps) {
  const { log, indexes, search, onChange } = props;
  return (
    <div className={styles.toolbar}>
      <SearchField {...props} />
      <select
        aria-label="Level"
        value={search.level ?? ''}
        onChange={({ target }) => onChange({ level: LEAST_LOG_LEVELS.find((one) => one === target.value) })}
      >
        {LEVEL_OPTIONS.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <LineField {...props} />
      <div className={styles.options}>
        {props.hasTimes && (
          <select
            aria-label="Times"
            value={search.times ?? 'start'}
            onChange={({ target }) => {
              const times = TIME_MODES.find((one) => one === target.value);
              onChange({ times: times === 'start' ? undefined : times });
            }}
          >
            <option value="start">Since the start</option>
            <option value="clock">Time of day</option>
            <option value="none">No times</option>
          </select>
        )}
        <button
          type="button"
          className={styles.toggle}
          aria-pressed={search.wrap === true}
          onClick={() => onChange({ wrap: search.wrap ? undefined : true })}
        >
          Wrap lines
        </button>
        {props.following}
        <button
          type="button"
          className="icon-button"
          aria-label="Download the log"
          disabled={props.isPartial}
          onClick={() => saveLog(`${props.address.run}.log`, log, indexes)}
        >
          <Icon name="download" />
        </button>
      </div>
    </div>
  );
}

function SearchField(props: LogToolbarProps) {
  const { log, isPartial, indexes, typed, onType, matchCount, match, onMove } = props;
  const lineCount = indexes?.length ?? log.lineCount;
  const moveByKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && matchCount > 0) onMove(event.shiftKey ? -1 : 1);
  };
  return (
    <>
      <input
        type="search"
        className={styles.search}
        aria-label="Search the log"
        placeholder="Search the log"
        value={typed}
        onChange={(event) => onType(event.target.value)}
        onKeyDown={moveByKey}
      />
      <span className={styles.count} role="status">
        {typed === ''
          ? `${formatNumber(lineCount)} ${lineCount === 1 ? 'line' : 'lines'}`
          : `${match + 1} of ${formatNumber(matchCount)}`}
        {isPartial && ' so far'}
      </span>
      <button
        type="button"
        className="icon-button"
        aria-label="Previous match"
        disabled={matchCount === 0}
        onClick={() => onMove(-1)}
      >
        <Icon name="previous" />
      </button>
      <button
        type="button"
        className="icon-button"
        aria-label="Next match"
        disabled={matchCount === 0}
        onClick={() => onMove(1)}
      >
        <Icon name="next" />
      </button>
    </>
  );
}

/** The chosen line, and the link to it for others. */
function LineField({ search: { line }, onChooseLine }: LogToolbarProps) {
  const choose = (text: string) => {
    const number = Number(text);
    onChooseLine(Number.isSafeInteger(number) && number > 0 ? number : undefined);
  };
  return (
    <span className={styles.chosen}>
      <input
        type="number"
        min={1}
        className={styles.lineField}
        aria-label="Line"
        placeholder="Line"
        value={line ?? ''}
        onChange={({ target }) => choose(target.value)}
      />
      {line !== undefined && <CopyButton text={formatLink(line)} label={`Copy link to line ${line}`} />}
    </span>
  );
}

/** Returns the address of this page with the log at the line, without a search, which would scroll elsewhere. */
function formatLink(line: number): string {
  const url = new URL(window.location.href);
  url.search = `?tab=log&line=${line}`;
  return url.href;
}

/** Saves the log as the app wrote it, or the visible lines of a level. */
function saveLog(name: string, log: LogText, indexes: readonly number[] | undefined): void {
  const text = indexes ? indexes.map((index) => `${log.getLine(index)}\n`).join('') : log.getText();
  saveFile(name, text, 'text/plain');
}
