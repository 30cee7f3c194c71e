/** Servers for shell functions that take the place of programs, so that a script starts fewer processes. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** Ends each part of a request and each record of a response. */
export const SEPARATOR = '\0';

export interface ShellServer {
  /** The shell function that sends its requests to the server. */
  readonly definition: string;
  close(): void;
}

/** Starts a server on a free port of this machine. */
export async function startShellServer(
  respond: (socket: Socket) => void,
  formatDefinition: (port: number) => string,
): Promise<ShellServer> {
  const server = createServer(respond);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { definition: formatDefinition(port), close: () => server.close() };
}

/**
 * Formats the end of a shell function that runs a program elsewhere. Each record of the response begins with the letter of
 * its stream, or with `x` and the exit code, which the function returns.
 */
export function formatEnd(descriptor: number): string {
  return `local record code=1
  while IFS= read -r -d '' record <&${descriptor}; do
    case $record in
      o*) printf '%s' "\${record#o}" ;;
      e*) printf '%s' "\${record#e}" >&2 ;;
      x*) code=\${record#x} ;;
    esac
  done
  exec ${descriptor}>&-
  return "$code"`;
}
