/** Refuses operations on the program of an application that the account has subscribed to: only its publisher changes it. */
import { badRequest, notFound, quoteValue } from '../../platform/http/errors/problem.ts';
import type { ApplicationsTable } from './schema.ts';

/** Throws a 400 for the application of a subscription; `action` completes "you cannot". */
export function requireOwnProgram({ type, id }: ApplicationsTable, action: string): void {
  if (type !== 'subscription') return;
  throw badRequest(
    `The application ${quoteValue(id)} is the application of a subscription: its publisher provides the versions, so you cannot ${action}.`,
  );
}

/** Throws a 404 for the application of a subscription, whose files belong to its publisher. */
export function requireOwnFiles({ type, id }: ApplicationsTable): void {
  if (type !== 'subscription') return;
  throw notFound(
    `The application ${quoteValue(id)} is the application of a subscription: the files of its executables are visible to its publisher alone.`,
  );
}
