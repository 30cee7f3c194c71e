/**
 * Runs the command lines of the pages in this process. The shell function `switchyard` sends its arguments here, because a
 * start of Node with all commands takes half a second of processor time.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { runCommand } from './run-command.ts';

/** Ends each part of a request and each record of a response. */
const SEPARATOR = '\0';

export interface CommandServer {
  /** The shell function `switchyard`. */
  readonly definition: string;
  close(): void;
}

/** Starts the server on a free port of this machine. */
export async function startCommandServer(): Promise<CommandServer> {
  const server = createServer(respond);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    definition: formatDefinition(server.address() as AddressInfo),
    close: () => server.close(),
  };
}

/**
 * The function sends the number of parts, the working folder, standard input where an option reads it, the variables of the
 * program, an empty part, and the arguments. Each record of the response begins with the letter of its stream, or with `x`
 * and the exit code.
 */
function formatDefinition({ port }: AddressInfo): string {
  return `switchyard() {
  local record name input='' code=1
  local -a variables=("HOME=$HOME")
  for name in "\${!SWITCHYARD_@}"; do variables+=("$name=\${!name}"); done
  for name in "$@"; do if [[ $name == --token-stdin ]]; then input=$(</dev/stdin); fi; done
  exec 7<>/dev/tcp/127.0.0.1/${port}
  printf '%s\\0' "$(( \${#variables[@]} + $# + 3 ))" "$PWD" "$input" "\${variables[@]}" '' "$@" >&7
  while IFS= read -r -d '' record <&7; do
    case $record in
      o*) printf '%s' "\${record#o}" ;;
      e*) printf '%s' "\${record#e}" >&2 ;;
      x*) code=\${record#x} ;;
    esac
  done
  exec 7>&-
  return "$code"
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
