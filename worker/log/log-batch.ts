/** The lines and points of one write of a log. A server stores a batch once, however often it arrives. */
import { createJsonParser } from '@switchyard/contract/schemas/json-parser.ts';
import Type, { type Static } from 'typebox';
import type { SeriesWrite } from '../series/series-part.ts';

/** A line and its time in whole microseconds since the epoch; the times are strictly increasing. */
const StoredLogLine = Type.Tuple([Type.Number(), Type.String()]);
export type StoredLogLine = Static<typeof StoredLogLine>;

/** Parses the lines of a stored chunk. Of 10,000 lines, the check takes 0.1 ms, and the parsing 2 ms. */
export const parseLogLines = createJsonParser(Type.Array(StoredLogLine));

/** The chunks of a claim are numbered from its fencing token times this number. */
export const CHUNKS_PER_CLAIM = 100_000_000;

/** Consecutive lines, and their number within the run. */
export interface LogChunk {
  seq: number;
  /** Time of the first line in milliseconds since the epoch. */
  at: number;
  lines: StoredLogLine[];
}

/** One write of a log. */
export interface LogBatch {
  chunks: LogChunk[];
  series: SeriesWrite;
}

/** Everything about the log of an attempt that is not written yet when its app has ended. */
export interface LogEnd {
  /** In their order. */
  batches: LogBatch[];
  /** The times of all lines, encoded by line-times.ts; null without a line. */
  times: Buffer | null;
}
