/**
 * Rows of lists that can be formatted. One row that cannot, such as one with an impossible time or with text that is no JSON,
 * would make the whole list a 500 for every caller. It is left out, and the log names it.
 */
import { errorMessage, type Log } from '../../log.ts';

/** The errors that a value of a row causes. Any other one, such as that of an unavailable database, concerns the whole list. */
function isCausedByRow(error: unknown): boolean {
  return error instanceof SyntaxError || error instanceof RangeError || error instanceof TypeError;
}

/** Returns the bodies of the rows that can be formatted, in their order. */
export async function formatReadableRows<Row extends object, Body>(
  log: Pick<Log, 'error'>,
  rows: Row[],
  formatBodies: (rows: Row[]) => Body[] | Promise<Body[]>,
): Promise<Body[]> {
  try {
    return await formatBodies(rows);
  } catch (error) {
    if (!isCausedByRow(error)) throw error;
  }
  const readable: Body[] = [];
  for (const row of rows) {
    try {
      readable.push(...(await formatBodies([row])));
    } catch (error) {
      if (!isCausedByRow(error)) throw error;
      log.error(
        { row: 'id' in row ? row.id : null, error: errorMessage(error) },
        'Unreadable row left out of a list.',
      );
    }
  }
  return readable;
}
