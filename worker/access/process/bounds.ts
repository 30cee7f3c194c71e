/**
 * The bounds of the process, for one run and for all runs together. Their sum is smaller than the memory at which the process
 * ends itself, so no run can bring that about for the others (see bounds.test.ts).
 */

const KIB = 1024;
const MIB = 1024 * KIB;

/** Requests of one run on their way to the server, each on a connection of its own, and requests that wait for these. */
export const ACTIVE_MAX = 64;
export const WAITING_MAX = 64;
/** Connections of one run: those of active and waiting requests, and some whose requests are refused. */
export const CONNECTIONS_MAX = 192;
/** The same for all runs together, of which each has an equal part. */
export const ACTIVE_TOTAL_MAX = 256;
export const CONNECTIONS_TOTAL_MAX = 768;
/** Requests a second, and those at once after a pause. */
export const REQUESTS_PER_SECOND = 50;
export const REQUESTS_BURST = 100;
/**
 * The same for what comes without the token of the run: uploads and downloads by signed URLs, and whatever a stranger sends who
 * has found the port. They have bounds of their own, so that a stranger cannot use up those of the run.
 */
export const UNTRUSTED = { active: 32, activeTotal: 64, waiting: 64, perSecond: 25, burst: 50 };

/** A head has at most 16 KiB, which the parser refuses; a longer one without an end goes to the parser. */
export const HEAD_BYTES_MAX = 20 * KIB;
/** Node reads so much at once, and so much again after the end of reading. */
const READ_BYTES_MAX = 64 * KIB;
/** The parser gets so many bytes at once, and the streams of requests and responses buffer as many. */
export const SLICE_BYTES_MAX = 16 * KIB;
/** A larger body is passed on as it arrives, and so cannot be sent again. */
export const REPEATABLE_BODY_BYTES_MAX = 256 * KIB;
/** Bodies in memory, of all runs together. Beyond it, bodies are passed on as they arrive. */
export const REPEATABLE_BYTES_TOTAL_MAX = 32 * MIB;
/** The process ends beyond it, and is replaced. */
export const RESIDENT_BYTES_MAX = 512 * MIB;

/** The most that the bounds let runs hold at once, and what the process needs without any. */
export const MEMORY = {
  /** Unparsed bytes of a connection, and those that its socket has read ahead. */
  connections: CONNECTIONS_TOTAL_MAX * (HEAD_BYTES_MAX + 2 * READ_BYTES_MAX),
  /**
   * A body and a response that both stand still. Four reads wait at the sockets of the server and of the app. The slices in the
   * streams between them are less than two reads.
   */
  active: (ACTIVE_TOTAL_MAX + UNTRUSTED.activeTotal) * 6 * READ_BYTES_MAX,
  repeatable: REPEATABLE_BYTES_TOTAL_MAX + REPEATABLE_BODY_BYTES_MAX,
  /** Code, and the objects of connections and requests. */
  process: 160 * MIB,
};

/** Returns the part of a run in a bound for all runs; at most its own bound. */
export function computeShare(max: number, totalMax: number, runs: number): number {
  return Math.min(max, Math.max(1, Math.floor(totalMax / runs)));
}
