/**
 * Runs the Python programs of the pages. One process imports the published client once and forks for each program, because
 * the import takes a second of processor time.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { installPythonPackage } from '@switchyard/server/testing/python/python-package.ts';
import { formatEnd, type ShellServer } from './shell-server.ts';

/** Starts the process; undefined without Python or the client, as on a machine without access to the package index. */
export async function startPythonServer(): Promise<ShellServer | undefined> {
  const client = await installPythonPackage('nextmv').catch(() => undefined);
  if (!client) return undefined;
  const process = spawn(client.interpreterPath, [join(import.meta.dirname, 'python-server.py')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const port = await readPort(process);
  return { definition: formatDefinition(port), close: () => process.stdin?.end() };
}

async function readPort({ stdout }: ChildProcess): Promise<number> {
  if (!stdout) throw new Error('The Python process has no standard output.');
  const [line] = await once(stdout.setEncoding('utf8'), 'data');
  return Number(line);
}

/**
 * Programs that read standard input are apps: they need no client, and run in a separate process. A page that starts one in
 * the background ends the shell around the function, which therefore ends the program.
 */
function formatDefinition(port: number): string {
  return `python3() {
  local name program code=0
  local -a variables=()
  if [[ ! -f \${1-} || $(<"$1") != *nextmv* ]]; then
    command python3 "$@" <&0 &
    program=$!
    trap 'kill $program' TERM
    wait $program || code=$?
    trap - TERM
    return $code
  fi
  for name in "\${!SWITCHYARD_@}" "\${!NEXTMV_@}" "\${!REQUESTS_@}"; do variables+=("$name=\${!name}"); done
  exec 6<>/dev/tcp/127.0.0.1/${port}
  printf '%s\\0' "$(( \${#variables[@]} + $# + 2 ))" "$PWD" "\${variables[@]}" '' "$@" >&6
  ${formatEnd(6)}
}`;
}
