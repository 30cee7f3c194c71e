/** The operations of the audit log as a person reads them. */
import { SERVER_ACTIONS } from '@switchyard/contract/account/audit.ts';
import type { Operation } from '@switchyard/contract/operation.ts';
import { operations } from '@switchyard/contract/operations.ts';

const TABLE: Readonly<Record<string, Pick<Operation, 'summary' | 'method'>>> = operations;

/** Returns the title of an operation or of an action of the server; the name of one that this release does not know. */
export const titleOperation = (id: string): string => TABLE[id]?.summary ?? SERVER_ACTIONS[id] ?? id;

/** The names of all actions of the log: every change, the reads of secrets, and those of the server itself. */
export const AUDITED_OPERATIONS: readonly string[] = [
  ...Object.keys(TABLE).filter((id) => TABLE[id]?.method !== 'GET'),
  ...['getSecretsCollection', 'getWebhookSecret'],
  ...Object.keys(SERVER_ACTIONS),
].toSorted((one, other) => titleOperation(one).localeCompare(titleOperation(other)));
