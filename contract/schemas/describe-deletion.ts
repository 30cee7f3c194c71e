/** What a delete does to things that refer to what is deleted, as a table in the description of the operation. */

/** `lead` says what is deleted, each row what becomes of something that refers to it, `end` what else is to be known. */
export function describeDeletion(
  lead: string,
  rows: readonly [what: string, becomes: string][],
  end: string,
): string {
  const table = [['What', 'What becomes of it'], ['---', '---'], ...rows].map(
    (cells) => `| ${cells.join(' | ')} |`,
  );
  return `${lead}\n\n${table.join('\n')}\n\n${end}`;
}
