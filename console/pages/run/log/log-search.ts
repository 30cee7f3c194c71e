/** The search parameters of the log, which are its state. */
import { LEAST_LOG_LEVELS, type LeastLogLevel } from '@switchyard/contract/runs/logs/log-levels.ts';
import { readText } from '../../../client/read-text.ts';
import { TIME_MODES, type TimeMode } from './log-times.ts';

/** The search parameters of the log. */
export interface LogSearch {
  /** The text that is searched for in the log. */
  find?: string;
  /** The least severity of the visible lines of the log. */
  level?: LeastLogLevel;
  /** The chosen line, counted from 1. */
  line?: number;
  /** The times of the lines; absent for those since the start. */
  times?: TimeMode;
  /** True if long lines wrap. */
  wrap?: true;
}

/** Returns the known parameters of the log. */
export function parseLogSearch(search: Record<string, unknown>): LogSearch {
  const level = LEAST_LOG_LEVELS.find((one) => one === search.level);
  const times = TIME_MODES.find((one) => one === search.times);
  const find = readText(search.find);
  const { line, wrap } = search;
  return {
    ...(find !== undefined && { find }),
    ...(level !== undefined && { level }),
    ...(typeof line === 'number' && Number.isSafeInteger(line) && line > 0 && { line }),
    ...(times !== undefined && times !== 'start' && { times }),
    ...(wrap === true && { wrap }),
  };
}
