/**
 * The command that prints completions of bash, zsh and fish. The names of commands and options are part of the script, so
 * completing them starts no program. Ids of applications and names of profiles come from the program when they are asked
 * for. They are compared as text and never evaluated.
 */
import { Argument, type Command, type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import type { Session } from '../session/session.ts';
import { listGlobalOptions } from './global-options.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** The commands that print the values of an option, one a line. */
const LISTS = {
  application: { flags: ['-a', '--app'], command: 'switchyard apps list --quiet' },
  profile: { flags: ['--profile', '--use'], command: 'switchyard profiles --quiet' },
} as const satisfies Record<string, ValueList>;

/** Commander adds it to every command by itself. */
const HELP = new Option('-h, --help', 'Print the help.');

export function defineCompletionCommands(program: Command, session: Session): void {
  program
    .command('completion')
    .description('Print the completions for a shell. They have commands, options and application ids.')
    .addArgument(new Argument('<shell>', 'The shell.').choices(SHELLS))
    .addHelpText('after', '\nExample:\n  source <(switchyard completion bash)')
    .action((shell) => {
      session.terminal.out.write(formatCompletion(shell, listCommandNodes(program)));
    });
}

type Shell = (typeof SHELLS)[number];

interface ValueList {
  flags: readonly string[];
  command: string;
}

/** Returns the script for a shell. */
function formatCompletion(shell: Shell, nodes: readonly CommandNode[]): string {
  return { bash: formatBash, zsh: formatZsh, fish: formatFish }[shell](nodes);
}

/** Returns the text in single quotes of a shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

const joinTexts = (words: readonly Word[]): string => words.map(({ text }) => text).join(' ');

const listFlags = ({ short, long }: CommandOption): string[] =>
  [short, long].filter((flag) => flag !== undefined);

/** The part of a loop over the words of the line, in bash and zsh, that finds the command and counts its arguments. */
function formatWordCases(nodes: readonly CommandNode[], skipValue: string): string {
  const paths = nodes.filter(({ path }) => path !== '').map(({ path }) => path);
  return `    case $word in
      ${listValueFlags(nodes).join(' | ')}) ${skipValue}; continue ;;
    esac
    case $at/$word in
      ${paths.join(' | ')}) at="$at/$word"; count=0 ;;
      */-*) ;;
      *) ((count += 1)) ;;
    esac`;
}

/** The cases of bash and zsh for options whose value is one of a list. */
function formatChoiceCases(
  nodes: readonly CommandNode[],
  complete: (values: readonly string[]) => string,
): string {
  return nodes
    .flatMap(({ path, options }) =>
      options
        .filter(({ values }) => values.length > 0)
        .map((option) => {
          const patterns = listFlags(option).map((flag) => `${path}:${flag}`);
          return `    ${patterns.join(' | ')}) ${complete(option.values)} ;;`;
        }),
    )
    .join('\n');
}

/** The pattern of bash and zsh for the commands and the number of arguments before an application. */
function formatApplicationPattern(nodes: readonly CommandNode[]): string {
  return nodes
    .filter(({ applicationAt }) => applicationAt >= 0)
    .map(({ path, applicationAt }) => `${path}:${applicationAt}:*`)
    .join(' | ');
}

/** The flags whose next word is a value: one list for all commands, because flags mean the same everywhere. */
function listValueFlags(nodes: readonly CommandNode[]): string[] {
  const options = nodes.flatMap((node) => node.options).filter(({ hasValue }) => hasValue);
  return [...new Set(options.flatMap(listFlags))].sort();
}

function formatBash(nodes: readonly CommandNode[]): string {
  const words = nodes.map(
    ({ path, words: all }) => `      ${path || "''"}) words=${quote(joinTexts(all))} ;;`,
  );
  const lists = Object.values(LISTS).map(
    ({ flags, command }) => `    ${flags.join(' | ')}) list=$(${command} 2>/dev/null) ;;`,
  );
  return `# bash completion of switchyard. Add to ~/.bashrc:  source <(switchyard completion bash)
_switchyard() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]}
  local at= words= list= word index count=0
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
${formatWordCases(nodes, `if [[ \${COMP_WORDS[++index]} == = ]]; then ((index++)); fi`)}
  done
  # Bash takes --option=value for three words.
  if [[ $previous == = || $current == = ]]; then
    if [[ $previous == = ]]; then previous=\${COMP_WORDS[COMP_CWORD - 2]}; else current=; fi
    # The value is itself name=value, as in --option duration=30.
    if [[ $previous != -* ]]; then return; fi
  fi
  case $previous in
${lists.join('\n')}
  esac
  case $at:$previous in
${formatChoiceCases(nodes, (values) => `words=${quote(values.join(' '))}`)}
  esac
  if [[ -z $words && -z $list ]]; then
    case $previous in
      ${listValueFlags(nodes).join(' | ')}) return ;;
    esac
    case $at in
${words.join('\n')}
    esac
    case $at:$count:$current in
      *:-*) ;;
      ${formatApplicationPattern(nodes)}) list=$(${LISTS.application.command} 2>/dev/null) ;;
    esac
  fi
  while IFS= read -r word; do
    if [[ -n $word && $word == "$current"* ]]; then COMPREPLY+=("$word"); fi
  done <<<"\${words// /$'\\n'}
$list"
}
complete -o default -F _switchyard switchyard
`;
}

function formatZsh(nodes: readonly CommandNode[]): string {
  const lists = Object.values(LISTS).map(
    ({ flags, command }) =>
      `    ${flags.join(' | ')}) compadd -- "\${(@f)$(${command} 2>/dev/null)}"; return ;;`,
  );
  const described = nodes.map(({ path, words }) => {
    const groups = [...Map.groupBy(words, ({ group }) => group)];
    const lists = groups.map(([group, own]) => {
      // A colon separates the name from its description.
      const entries = own.map(({ text, description }) =>
        quote(`${text.replaceAll(':', '\\:')}:${description}`),
      );
      return `entries=(${entries.join(' ')}); _describe ${quote(group || 'switchyard')} entries && found=1`;
    });
    return `    ${path || "''"}) ${lists.join('; ')} ;;`;
  });
  return `#compdef switchyard
# zsh completion of switchyard. Add to ~/.zshrc:  source <(switchyard completion zsh)
_switchyard() {
  local at= word index count=0 found=0 previous=$words[CURRENT-1]
  local -a entries
  for ((index = 2; index < CURRENT; index++)); do
    word=$words[index]
${formatWordCases(nodes, '((index++))')}
  done
  if [[ $words[CURRENT] == --*=* ]]; then
    previous=\${words[CURRENT]%%=*}
    compset -P '*='
  fi
  case $previous in
${lists.join('\n')}
  esac
  case $at:$previous in
${formatChoiceCases(nodes, (values) => `compadd -- ${values.map(quote).join(' ')}; return`)}
  esac
  case $previous in
    ${listValueFlags(nodes).join(' | ')}) _files; return ;;
  esac
  case $at:$count:$words[CURRENT] in
    *:-*) ;;
    ${formatApplicationPattern(nodes)}) compadd -- "\${(@f)$(${LISTS.application.command} 2>/dev/null)}"; return ;;
  esac
  case $at in
${described.join('\n')}
  esac
  ((found)) || _files
}
if [[ $funcstack[1] == _switchyard ]]; then
  # The script is the file _switchyard of a folder of fpath, which zsh reads when it first completes.
  _switchyard "$@"
else
  if ! (($+functions[compdef])); then
    autoload -Uz compinit
    compinit
  fi
  compdef _switchyard switchyard
fi
`;
}

function formatFish(nodes: readonly CommandNode[]): string {
  const paths = nodes.map(({ path }) => quoteFish(path)).join(' ');
  return `# fish completion of switchyard. Add to ~/.config/fish/config.fish:  switchyard completion fish | source
function __switchyard_is_at
    set -l at ''
    set -l skips 0
    set -l count 0
    for word in (commandline -opc)[2..]
        if test $skips = 1
            set skips 0
        else if contains -- $word ${listValueFlags(nodes).map(quoteFish).join(' ')}
            set skips 1
        else if contains -- $at/$word ${paths}
            set at $at/$word
            set count 0
        else if not string match -q -- '-*' $word
            set count (math $count + 1)
        end
    end
    test "$at" = "$argv[1]"; and test (count $argv) = 1 -o "$count" = "$argv[2]"
end
${nodes.flatMap(formatFishNode).join('\n')}
`;
}

function quoteFish(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

/** The lines of one command. A command with commands below it has no files as arguments. */
function formatFishNode({ path, words, options, hasCommands, applicationAt }: CommandNode): string[] {
  const place = `__switchyard_is_at ${quoteFish(path)}`;
  const start = `complete -c switchyard -n ${quoteFish(place)}`;
  const atApplication = `complete -c switchyard -n ${quoteFish(`${place} ${applicationAt}`)}`;
  return [
    ...(hasCommands ? [`${start} -f`] : []),
    ...(applicationAt < 0 ? [] : [`${atApplication} -f -a ${formatFishList(LISTS.application)}`]),
    ...words
      .filter(({ text }) => !text.startsWith('-'))
      .map(
        ({ text, group, description }) =>
          `${start} -f -a ${quoteFish(text)} -d ${quoteFish(group ? `${group}: ${description}` : description)}`,
      ),
    ...options.map((option) => `${start} ${formatFishOption(option)}`),
  ];
}

/** The flags, the values and the description of an option. Some have two long flags. */
function formatFishOption(option: CommandOption): string {
  const flags = listFlags(option);
  const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
  const list = Object.values<ValueList>(LISTS).find((each) =>
    each.flags.some((flag) => flags.includes(flag)),
  );
  const value = list
    ? [`-x -a ${formatFishList(list)}`]
    : option.values.length > 0
      ? [`-x -a ${quoteFish(option.values.join(' '))}`]
      : option.hasValue
        ? ['-r -F']
        : [];
  return [...names, ...value, `-d ${quoteFish(option.description)}`].join(' ');
}

const formatFishList = ({ command }: ValueList): string => `'(${command} 2>/dev/null)'`;

/** A command with the commands below it. */
interface CommandNode {
  /** The names from the program on, such as `/instances/create`; empty for the program. */
  path: string;
  /** The commands below it, the values of its arguments where they are one of a list, and its options. */
  words: readonly Word[];
  options: readonly CommandOption[];
  hasCommands: boolean;
  /** The number of arguments before the one that is the id of an application; -1 without one. */
  applicationAt: number;
}

/** A word that may stand in the line, with its description. */
interface Word {
  text: string;
  /** The heading of the help that has the command; empty for other words. */
  group: string;
  description: string;
}

interface CommandOption {
  short: string | undefined;
  long: string | undefined;
  description: string;
  /** true: the next word is the value, and no command. */
  hasValue: boolean;
  /** The values where they are one of a list, otherwise empty. */
  values: readonly string[];
}

type CommandPart = Pick<
  CommandUnknownOpts,
  'name' | 'commands' | 'options' | 'description' | 'registeredArguments'
>;

/** Returns the program and all commands below it. Options of the program belong to every command. */
function listCommandNodes(program: CommandPart): CommandNode[] {
  const shared = listGlobalOptions(program);
  const visit = (command: CommandPart, path: string): CommandNode[] => {
    const own = command === program ? program.options : command.options.filter(({ hidden }) => !hidden);
    const options = [...new Map([...own, ...shared, HELP].map((option) => [option.flags, option])).values()];
    const words = [
      ...command.commands.map((child) => ({
        ...{ text: child.name(), group: child.helpGroup(), description: child.description() },
      })),
      ...command.registeredArguments.flatMap(({ argChoices = [], description }) =>
        argChoices.map((text) => ({ text, group: '', description })),
      ),
      ...options.map(({ long, flags, description }) => ({ text: long ?? flags, group: '', description })),
    ];
    const node: CommandNode = {
      path,
      words: words.sort((a, b) => (a.text < b.text ? -1 : 1)),
      options: options.map(describeOption),
      hasCommands: command.commands.length > 0,
      applicationAt: command.registeredArguments.findIndex((one) => one.name() === 'application'),
    };
    return [node, ...command.commands.flatMap((child) => visit(child, `${path}/${child.name()}`))];
  };
  return visit(program, '');
}

function describeOption({
  short,
  long,
  description,
  required,
  optional,
  argChoices = [],
}: Option): CommandOption {
  return { short, long, description, hasValue: required || optional, values: argChoices };
}
