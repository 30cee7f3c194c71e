/** The state of the log search in its address. */
import { LEAST_LOG_LEVELS, type LeastLogLevel } from '@switchyard/contract/runs/logs/log-levels.ts';
import { RUN_STATUSES_V2, type RunStatusV2 } from '@switchyard/contract/states.ts';
import { readText } from '../../client/read-text.ts';

export interface LogSearch {
  text?: string;
  /** The least severity of the lines. */
  level?: LeastLogLevel;
  /** The status of the runs. */
  status?: RunStatusV2;
}

/** Returns the parts of the address that the page knows, and drops everything else. */
export function parseLogSearch(search: Record<string, unknown>): LogSearch {
  const text = readText(search.text);
  const level = LEAST_LOG_LEVELS.find((one) => one === search.level);
  const status = RUN_STATUSES_V2.find((one) => one === search.status);
  return {
    ...(text !== undefined && { text }),
    ...(level && { level }),
    ...(status && { status }),
  };
}
