/**
 * Returns Markdown: `lead` says what is deleted, each row is a related resource and the effect on it, and `end`
 * follows.
 */
export function describeDeletion(
  lead: string,
  rows: readonly [resource: string, effect: string][],
  end: string,
): string {
  const table = [['Resource', 'Effect'], ['---', '---'], ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return `${lead}\n\n${table.join('\n')}\n\n${end}`;
}
