/** A problem that an operator can solve; the message names the remedy. */
export class BackupError extends Error {}
