/** Fills the queries of a run from its stream while it is active: its status, its log and its series. */
import type { ReceivedEvent } from '@switchyard/contract/read-events.ts';
import {
  mergeSeries,
  NO_SERIES,
  type SeriesChange,
} from '@switchyard/contract/runs/presentation/merge-series.ts';
import type { LiveLog } from '@switchyard/contract/runs/run-logs.ts';
import { isTerminal, type RunStatusV2 } from '@switchyard/contract/states.ts';
import { useState } from 'react';
import { client } from '../../../client/client.ts';
import { useEvents } from '../../../client/events.ts';
import { queryClient } from '../../../client/queries.ts';
import { logKey, type RunLog } from '../log/log-query.ts';
import { LogText } from '../log/log-text.ts';
import { LogTimes } from '../log/log-times.ts';
import { getRunParams, type RunAddress, runQuery, seriesQuery } from '../queries.ts';

/** Follows the run from its first line. Does nothing for a run that had ended before. */
export function useLiveRun(address: RunAddress, status: RunStatusV2): void {
  const [wasActive] = useState(!isTerminal(status));
  // Each state of the log shares these times: it has fewer lines, and finds the times of these alone.
  const [times] = useState(() => new LogTimes());
  const [received] = useState(() => ({ text: LogText.empty, hasSeries: false }));
  const addLines = (items: LiveLog['items']) => {
    for (const { timestamp } of items) times.add(Date.parse(timestamp));
    received.text = received.text.append(items.map(({ log }) => `${log}\n`).join(''));
    queryClient.setQueryData<RunLog>(logKey(address), { text: received.text, times, isPartial: false });
  };
  const addPoints = (change: SeriesChange) => {
    // The stream begins with the points that the page has loaded already.
    const isWhole = change.reset || !received.hasSeries;
    received.hasSeries = true;
    queryClient.setQueryData(seriesQuery(address).queryKey, (before) =>
      mergeSeries(before ?? NO_SERIES, { ...change, reset: isWhole }),
    );
  };
  useEvents(wasActive ? `${address.application}/${address.run}` : null, {
    open: (extras) => client.call('streamRunEvents', { params: getRunParams(address), ...extras }),
    onEvent: (event) => handleEvent(address, event, { addLines, addPoints }),
  });
}

function handleEvent(
  address: RunAddress,
  { event, data }: ReceivedEvent,
  { addLines, addPoints }: { addLines(items: LiveLog['items']): void; addPoints(change: SeriesChange): void },
): void {
  if (event === 'log') addLines(parseData<{ items: LiveLog['items'] }>(data).items);
  if (event === 'series') addPoints(parseData<SeriesChange>(data));
  if (event !== 'status') return;
  void queryClient.invalidateQueries({ queryKey: runQuery(address).queryKey });
  // The statistics of an ended run may have more series.
  if (isTerminal(parseData<{ status_v2: RunStatusV2 }>(data).status_v2))
    void queryClient.invalidateQueries({ queryKey: seriesQuery(address).queryKey });
}

/** The contract declares the data of each event. The library that checks schemas is too large for this page. */
function parseData<T>(data: string): T {
  const value: unknown = JSON.parse(data);
  return value as T;
}
