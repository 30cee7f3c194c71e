import { LEVEL_PATTERNS } from '@switchyard/contract/runs/logs/log-levels.ts';
import type { RunInformation } from '@switchyard/contract/runs/run-schemas.ts';
import { isTerminal } from '@switchyard/contract/states.ts';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { firstLinesQuery } from '../log/first-lines-query.ts';
import { logQuery } from '../log/log-query.ts';

/** Counting in a longer log with each of its lines would take too long. */
const COUNTED_LINES_MAX = 100_000;

/** The lines of a log that warn, or worse. */
interface Warnings {
  count: number;
  /** True if there may be more. */
  hasMore: boolean;
  /** The time of the first in milliseconds since the epoch. */
  first: number | undefined;
}

/** Returns the warnings in the log of a run so far. */
export function useWarnings(run: RunInformation): Warnings {
  const address = { application: run.application_id, run: run.id };
  const hasEnded = isTerminal(run.status_v2);
  const { data: lines } = useQuery({ ...firstLinesQuery(address), enabled: hasEnded });
  const isLong = lines?.next_page_token !== undefined;
  const { data: search } = useQuery({ ...firstLinesQuery(address, 'warning'), enabled: isLong });
  const { data: log } = useQuery({ ...logQuery(address, run.status_v2), enabled: false });
  const live = useMemo(() => {
    if (hasEnded || !log || log.text.lineCount > COUNTED_LINES_MAX) return [];
    return log.text.findLines(LEVEL_PATTERNS.warning);
  }, [hasEnded, log]);
  if (!hasEnded) {
    const [line] = live;
    return {
      count: live.length,
      hasMore: false,
      first: line === undefined ? undefined : log?.times.find(line),
    };
  }
  const found = (isLong ? search?.items : lines?.items)?.filter(({ level }) => level !== 'info') ?? [];
  const time = found[0]?.timestamp;
  return {
    count: found.length,
    hasMore: isLong && search?.next_page_token !== undefined,
    first: time === undefined ? undefined : Date.parse(time),
  };
}
