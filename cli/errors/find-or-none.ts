/** Reads resources that may not exist. */
import { ApiError } from '@switchyard/contract/client.ts';

/** Returns the response, or undefined for a 404. */
export async function findOrNone<Value>(read: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}
