/** Something an operator can put right; the sentence says what. */
export class BackupError extends Error {}
