/** Classifies errors of the database drivers by their codes: full disk, damage, lock, temporary failure. */

/** SQLite's code for a full disk. */
const SQLITE_FULL = 13;
/** SQLite's extended code for an index of the WAL that cannot grow, which only a full disk or quota prevents. */
const SQLITE_IOERR_SHMSIZE = 4874;
/** SQLite's code for other disk errors, such as a full disk when the WAL has to grow. */
const SQLITE_IOERR = 10;
/** SQLite's code for a read-only file or disk. */
const SQLITE_READONLY = 8;
/** SQLite's codes for a malformed database, and for a file that is not a database. */
const SQLITE_DAMAGED = new Set([11, 26]);
/** PostgreSQL's states for corrupted data and for a corrupted index. */
const DAMAGED_STATES = new Set(['XX001', 'XX002']);
/** PostgreSQL's states for missing resources (such as disk space), shutdown, crash, start, and a lost connection. */
const TRANSIENT_STATES = /^(53...|57P0[1-5]|08...)$/;
/** Node's codes for connections that break or fail to open. */
const TRANSIENT_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);
/** Beginnings of messages of pg that have no code. */
const TRANSIENT_MESSAGES = [
  'Connection terminated',
  'Client has encountered a connection error',
  'timeout exceeded when trying to connect',
];

/** Reports whether the disk of the database is full. */
export function isDatabaseFull(error: unknown): boolean {
  const { errcode, extended, code } = readErrorCodes(error);
  return errcode === SQLITE_FULL || extended === SQLITE_IOERR_SHMSIZE || code === '53100';
}

/** Reports whether the database is read-only, as on a disk that became read-only. */
export function isDatabaseReadOnly(error: unknown): boolean {
  const { errcode, code } = readErrorCodes(error);
  return errcode === SQLITE_READONLY || code === '25006';
}

/** Reports whether the database found that its own files are malformed. */
export function isDatabaseDamaged(error: unknown): boolean {
  const { errcode, code } = readErrorCodes(error);
  return SQLITE_DAMAGED.has(errcode) || DAMAGED_STATES.has(code);
}

/** Reports whether the failure is temporary: the database is unreachable, lost the connection, or its disk does not respond. */
export function isTransient(error: unknown): boolean {
  const { errcode, code, message } = readErrorCodes(error);
  return (
    errcode === SQLITE_IOERR ||
    TRANSIENT_STATES.test(code) ||
    TRANSIENT_CODES.has(code) ||
    TRANSIENT_MESSAGES.some((start) => message.startsWith(start))
  );
}

interface ErrorCodes {
  /** SQLite's primary code; 0 without one. */
  errcode: number;
  /** SQLite's extended code; 0 without one. */
  extended: number;
  /** PostgreSQL's state or Node's code; empty without one. */
  code: string;
  message: string;
}

/** Returns the codes of an error of a driver. Of SQLite's extended codes the lowest byte is the primary code. */
export function readErrorCodes(error: unknown): ErrorCodes {
  if (typeof error !== 'object' || error === null) return { errcode: 0, extended: 0, code: '', message: '' };
  const extended = 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : 0;
  return {
    errcode: extended & 0xff,
    extended,
    code: 'code' in error && typeof error.code === 'string' ? error.code : '',
    message: 'message' in error && typeof error.message === 'string' ? error.message : '',
  };
}
