/** What the database says when it is not to blame for failing: its disk is full, or it is away. */

/** SQLite's code for a full disk. */
const SQLITE_FULL = 13;
/** Its code for a disk that fails otherwise, as for one that is full when a file beside the database has to grow. */
const SQLITE_IOERR = 10;
/** Its codes for a file, or a disk, that must not be written to, for a malformed database, and for no database at all. */
const SQLITE_READONLY = 8;
const SQLITE_DAMAGED = new Set([11, 26]);
/** Of PostgreSQL: data or an index is corrupted. */
const DAMAGED_STATES = new Set(['XX001', 'XX002']);
/** Of PostgreSQL: it lacks resources (the disk among them), is shutting down, has crashed or is starting, has lost the connection. */
const TRANSIENT_STATES = /^(53...|57P0[1-5]|08...)$/;
/** Of connections that break or cannot be made. */
const TRANSIENT_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);
/** What pg says without a code. */
const TRANSIENT_MESSAGES = [
  'Connection terminated',
  'Client has encountered a connection error',
  'timeout exceeded when trying to connect',
];

/** Whether the database failed for want of room on the disk. */
export function isDatabaseFull(error: unknown): boolean {
  const { errcode, code } = partsOf(error);
  return errcode === SQLITE_FULL || code === '53100';
}

/** Whether the database may only be read, as on a disk that became read-only. */
export function isDatabaseReadOnly(error: unknown): boolean {
  const { errcode, code } = partsOf(error);
  return errcode === SQLITE_READONLY || code === '25006';
}

/** Whether the database found that its own files are malformed. */
export function isDatabaseDamaged(error: unknown): boolean {
  const { errcode, code } = partsOf(error);
  return SQLITE_DAMAGED.has(errcode) || DAMAGED_STATES.has(code);
}

/** Whether the database cannot be reached, has broken off, or has a disk that does not answer, which passes. */
export function isTransient(error: unknown): boolean {
  const { errcode, code, message } = partsOf(error);
  return (
    errcode === SQLITE_IOERR ||
    TRANSIENT_STATES.test(code) ||
    TRANSIENT_CODES.has(code) ||
    TRANSIENT_MESSAGES.some((words) => message.startsWith(words))
  );
}

/** What the drivers say of an error; of SQLite's extended codes the lowest byte, which is the code itself. */
function partsOf(error: unknown): { errcode: number; code: string; message: string } {
  const {
    errcode = 0,
    code = '',
    message = '',
  } = (error ?? {}) as { errcode?: number; code?: string; message?: string };
  return { errcode: errcode & 0xff, code, message };
}
