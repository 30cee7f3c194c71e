/**
 * Runs the command lines of the pages in this process. The shell function `switchyard` sends its arguments here, because a
 * start of Node with all commands takes half a second of processor time.
 */
import type { Socket } from 'node:net';
import { runCommand } from './run-command.ts';
import { formatEnd, SEPARATOR, type ShellServer, startShellServer } from './shell-server.ts';

/** Starts the server. */
export function startCommandServer(): Promise<ShellServer> {
  return startShellServer(respond, formatDefinition);
}

/**
 * The function sends the number of parts, the working folder, standard input where an option reads it, the exported variables,
 * an empty part, and the arguments. It leaves out PATH, which names the programs of the test process.
 */
function formatDefinition(port: number): string {
  return `switchyard() {
  local name input=''
  local -a variables=()
  for name in $(compgen -e); do if [[ $name != PATH ]]; then variables+=("$name=\${!name}"); fi; done
  for name in "$@"; do if [[ $name == --token-stdin ]]; then input=$(</dev/stdin); fi; done
  exec 7<>/dev/tcp/127.0.0.1/${port}
  printf '%s\\0' "$(( \${#variables[@]} + $# + 3 ))" "$PWD" "$input" "\${variables[@]}" '' "$@" >&7
  ${formatEnd(7)}
}`;
}

function respond(socket: Socket): void {
  const controller = new AbortController();
  let request = '';
  socket.on('error', () => controller.abort());
  socket.on('close', () => controller.abort());
  socket.setEncoding('utf8').on('data', async (chunk) => {
    request += chunk;
    const [count = '', ...parts] = request.split(SEPARATOR);
    if (parts.length <= Number(count)) return;
    const [cwd = '', input = '', ...rest] = parts.slice(0, -1);
    const end = rest.indexOf('');
    const env = Object.fromEntries(rest.slice(0, end).map(parseVariable));
    const send = (letter: string, text: string) => socket.write(`${letter}${text}${SEPARATOR}`);
    const { code } = await runCommand(rest.slice(end + 1), {
      cwd,
      input,
      env,
      signal: controller.signal,
      onOutput: (text) => send('o', text),
      onError: (text) => send('e', text),
    });
    socket.end(`x${code}${SEPARATOR}`);
  });
}

function parseVariable(text: string): [name: string, value: string] {
  const at = text.indexOf('=');
  return [text.slice(0, at), text.slice(at + 1)];
}
