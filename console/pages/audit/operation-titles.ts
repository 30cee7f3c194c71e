import { operations } from '@switchyard/contract/operations.ts';

/** The titles of the operations that the audit log lists: every change, and the reads of secrets. The build replaces this file by its value. */
export const OPERATION_TITLES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.values(operations)
    .filter(
      ({ id, method }) => method !== 'GET' || id === 'getSecretsCollection' || id === 'getWebhookSecret',
    )
    .map(({ id, summary }) => [id, summary]),
);
