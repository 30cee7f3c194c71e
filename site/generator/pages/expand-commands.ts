/**
 * Replaces the tag `commands` by the reference of the command line, so that the page shows the commands, options and examples
 * of the program itself.
 */
import Markdoc, { type Node } from '@markdoc/markdoc';
import type { CommandDescription } from '@switchyard/cli/program/describe-commands.ts';

type Term = CommandDescription['options'][number];

const HELP_OPTION = '-h, --help';

/** The group for an account and its server, on a page of its own: one page of all would be too heavy. */
const ACCOUNT_GROUP = 'Operate';

/** Replaces every tag `commands` directly in a page. The command line is loaded only for a page that has one. */
export async function expandCommands(page: Node): Promise<void> {
  if (!page.children.some(({ tag }) => tag === 'commands')) return;
  const { describeCommands } = await import('@switchyard/cli/program/describe-commands.ts');
  const all = describeCommands();
  page.children = page.children.flatMap((child) => {
    if (child.tag !== 'commands') return [child];
    const isAccount = child.attributes.area === 'account';
    const selected = all.filter(({ group }) => (group === ACCOUNT_GROUP) === isAccount);
    return parseAt(selected.flatMap(formatGrouped).join('\n'), child);
  });
}

/** Parses Markdown into nodes that have the place of the tag, where a mistake in them is reported. */
function parseAt(markdown: string, { lines, location }: Node): Node[] {
  const { children } = Markdoc.parse(markdown);
  for (const child of children) {
    for (const node of [child, ...child.walk()]) {
      node.lines = lines;
      if (location) node.location = location;
    }
  }
  return children;
}

/** Formats a command, below the heading of its group if it is the first of it. */
function formatGrouped(
  command: CommandDescription,
  index: number,
  all: readonly CommandDescription[],
): string[] {
  const { group } = command;
  const isFirst = group !== '' && group !== all[index - 1]?.group;
  return [...(isFirst ? [`## ${group} {% #group-${group.toLowerCase()} %}\n`] : []), formatCommand(command)];
}

function formatCommand(command: CommandDescription): string {
  const { name, usage, description, example } = command;
  const isProgram = name === '';
  const heading = isProgram
    ? '## Options of every command {% #global-options %}'
    : `### switchyard ${name} {% #${name.replaceAll(' ', '-')} %}`;
  const options = command.options.filter(({ term }) => isProgram || term !== HELP_OPTION);
  return [
    heading,
    isProgram ? 'They stand before or behind the name of the command.' : description,
    formatFence('text', usage),
    formatTerms('Argument', command.arguments),
    formatTerms('Option', options),
    example === '' ? '' : formatFence('bash', example),
  ]
    .filter((part) => part !== '')
    .map((part) => `${part}\n`)
    .join('\n');
}

function formatFence(language: string, code: string): string {
  return `\`\`\`${language}\n${code}\n\`\`\``;
}

function formatTerms(title: string, terms: readonly Term[]): string {
  if (terms.length === 0) return '';
  const rows = terms.map(
    ({ term, description }) => `| \`${escapeCell(term)}\` | ${escapeCell(description)} |`,
  );
  return [`| ${title} | Meaning |`, '| --- | --- |', ...rows].join('\n');
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
