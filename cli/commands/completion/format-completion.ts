/**
 * Completions of bash, zsh and fish. The names of commands and options are part of the script, so completing them starts no
 * program. Ids of applications and names of profiles come from the program when they are asked for. They are compared as
 * text and never evaluated.
 */
import type { CommandNode, Word } from './command-tree.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** The commands that print the values of an option, one a line. */
const LISTS = {
  application: { flags: ['-a', '--app'], command: 'switchyard apps list --quiet' },
  profile: { flags: ['--profile', '--use'], command: 'switchyard profiles --quiet' },
} as const;

/** Returns the script for a shell. */
export function formatCompletion(shell: Shell, nodes: readonly CommandNode[]): string {
  return { bash: formatBash, zsh: formatZsh, fish: formatFish }[shell](nodes);
}

/** Returns the text in single quotes of a shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

const joinTexts = (words: readonly Word[]): string => words.map(({ text }) => text).join(' ');

/** The part of a loop over the words of the line, in bash and zsh, that finds the command that is completed. */
function formatWordCases(nodes: readonly CommandNode[]): string {
  const paths = nodes.filter(({ path }) => path !== '').map(({ path }) => path);
  return `    case $word in
      ${listValueFlags(nodes).join(' | ')}) ((index++)); continue ;;
    esac
    case $at/$word in
      ${paths.join(' | ')}) at="$at/$word" ;;
    esac`;
}

/** The cases of bash and zsh for options whose value is one of a list. */
function formatChoiceCases(
  nodes: readonly CommandNode[],
  complete: (values: readonly string[]) => string,
): string {
  return nodes
    .flatMap(({ path, choices }) =>
      choices.map(
        ({ flags, values }) =>
          `    ${flags.map((flag) => `${path}:${flag}`).join(' | ')}) ${complete(values)} ;;`,
      ),
    )
    .join('\n');
}

/** The pattern of bash and zsh for the commands whose first argument is an application. */
function formatApplicationPattern(nodes: readonly CommandNode[]): string {
  return listApplicationPaths(nodes)
    .map((path) => `${path}:*`)
    .join(' | ');
}

/** The flags whose next word is a value: one list for all commands, because flags mean the same everywhere. */
function listValueFlags(nodes: readonly CommandNode[]): string[] {
  return [...new Set(nodes.flatMap(({ valueFlags }) => valueFlags))].sort();
}

/** The commands whose first argument is an application. */
function listApplicationPaths(nodes: readonly CommandNode[]): string[] {
  return nodes.flatMap(({ path, hasApplicationArgument }) => (hasApplicationArgument ? [path] : []));
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
  local at= words= list= word index
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
${formatWordCases(nodes)}
  done
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
    case $at:$current in
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
    // A colon separates the name from its description.
    const entries = words.map(({ text, description }) =>
      quote(`${text.replaceAll(':', '\\:')}:${description}`),
    );
    return `    ${path || "''"}) entries=(${entries.join(' ')}) ;;`;
  });
  return `#compdef switchyard
# zsh completion of switchyard. Add to ~/.zshrc:  source <(switchyard completion zsh)
_switchyard() {
  local at= word index
  local -a entries
  for ((index = 2; index < CURRENT; index++)); do
    word=$words[index]
${formatWordCases(nodes)}
  done
  case $words[CURRENT-1] in
${lists.join('\n')}
  esac
  case $at:$words[CURRENT-1] in
${formatChoiceCases(nodes, (values) => `compadd -- ${values.map(quote).join(' ')}; return`)}
  esac
  case $words[CURRENT-1] in
    ${listValueFlags(nodes).join(' | ')}) _files; return ;;
  esac
  case $at in
${described.join('\n')}
  esac
  case $at:$words[CURRENT] in
    *:-*) ;;
    ${formatApplicationPattern(nodes)}) compadd -- "\${(@f)$(${LISTS.application.command} 2>/dev/null)}"; return ;;
  esac
  _describe switchyard entries || _files
}
compdef _switchyard switchyard
`;
}

function formatFish(nodes: readonly CommandNode[]): string {
  const quoteFish = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const entries = nodes.flatMap(({ path, words, choices }) => [
    ...words.map(
      ({ text, description }) =>
        `complete -c switchyard -n ${quoteFish(`__switchyard_is_at ${quoteFish(path)}`)} -a ${quoteFish(text)} -d ${quoteFish(description)}`,
    ),
    ...choices.flatMap(({ flags, values }) =>
      flags
        .filter((flag) => flag.startsWith('--'))
        .map(
          (flag) =>
            `complete -c switchyard -n ${quoteFish(`__switchyard_is_at ${quoteFish(path)}`)} -l ${flag.slice(2)} -x -a ${quoteFish(values.join(' '))}`,
        ),
    ),
  ]);
  const flags = listValueFlags(nodes).map(quoteFish).join(' ');
  return `# fish completion of switchyard. Add to ~/.config/fish/config.fish:  switchyard completion fish | source
function __switchyard_is_at
    set -l at ''
    set -l skips 0
    for word in (commandline -opc)[2..]
        if test $skips = 1
            set skips 0
        else if contains -- $word ${flags}
            set skips 1
        else if contains -- $at/$word ${nodes.map(({ path }) => quoteFish(path)).join(' ')}
            set at $at/$word
        end
    end
    test "$at" = "$argv[1]"
end
complete -c switchyard -s a -l app -x -a '(${LISTS.application.command} 2>/dev/null)'
${listApplicationPaths(nodes)
  .map(
    (path) =>
      `complete -c switchyard -n ${quoteFish(`__switchyard_is_at ${quoteFish(path)}`)} -a '(${LISTS.application.command} 2>/dev/null)'`,
  )
  .join('\n')}
complete -c switchyard -l profile -x -a '(${LISTS.profile.command} 2>/dev/null)'
${entries.join('\n')}
`;
}
