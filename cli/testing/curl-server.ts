/**
 * Sends the requests of the shell function `curl` from this process. The program takes 7 ms of processor time to start, and
 * the stories make more than a thousand requests. Options that the function does not know go to the program.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SEPARATOR, type ShellServer, startShellServer } from './shell-server.ts';

/** The parts of a request: method, URL, content type, other headers, body. */
const PARTS = 5;
/** Ends a stored text, because a shell removes line feeds at the end. */
const END_MARK = 'x';
/** Bodies that a shell variable can hold; others may have null bytes. */
const TEXT_TYPE = /^(text\/|application\/(json|problem|x-ndjson))/;

/** Starts the server. */
export async function startCurlServer(): Promise<ShellServer> {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-curl-'));
  let responses = 0;
  const createPath = () => join(folder, String(responses++));
  const server = await startShellServer((socket) => respond(socket, createPath), formatDefinition);
  return {
    definition: server.definition,
    close: () => {
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The response is the exit code of curl, the status, the kind of the body and its path. */
function formatDefinition(port: number): string {
  return `curl() {
  local -a all=("$@")
  local method='' url='' type='' headers='' body='' has_body='' output='' fails='' code status kind file
  while (( $# > 0 )); do
    case $1 in
      -s|-S|-sS) ;;
      --fail-with-body) fails=1 ;;
      -X) method=$2; shift ;;
      -o) output=$2; shift ;;
      -H) if [[ $2 == Content-Type:* ]]; then type=\${2#*: }; else headers+="$2"$'\\n'; fi; shift ;;
      -d|--data-binary)
        if [[ $2 == @- ]]; then body=$(</dev/stdin)
        elif [[ $2 == @* ]]; then body=$(<"\${2#@}")
        else body=$2; fi
        has_body=1; shift ;;
      http://127.0.0.1:*) url=$1 ;;
      *) command curl "\${all[@]}"; return ;;
    esac
    shift
  done
  if [[ -z $method ]]; then if [[ $has_body ]]; then method=POST; else method=GET; fi; fi
  if [[ $has_body && -z $type ]]; then type=application/x-www-form-urlencoded; fi
  exec 5<>/dev/tcp/127.0.0.1/${port}
  printf '%s\\0' "$method" "$url" "$type" "$headers" "$body" >&5
  IFS= read -r -d '' code <&5; IFS= read -r -d '' status <&5
  IFS= read -r -d '' kind <&5; IFS= read -r -d '' file <&5
  exec 5>&-
  if [[ $code != 0 ]]; then echo "curl: ($code) $status" >&2; return "$code"; fi
  if [[ $kind == binary ]]; then if [[ $output ]]; then command cat "$file" > "$output"; else command cat "$file"; fi; return; fi
  body=$(<"$file")
  if [[ $output ]]; then printf '%s' "\${body%${END_MARK}}" > "$output"; else printf '%s' "\${body%${END_MARK}}"; fi
  if [[ $fails && $status -ge 400 ]]; then
    echo "curl: (22) The requested URL returned error: $status" >&2
    return 22
  fi
}`;
}

function respond(socket: Socket, createPath: () => string): void {
  let request = '';
  socket.on('error', () => socket.destroy());
  socket.setEncoding('utf8').on('data', async (chunk) => {
    request += chunk;
    const parts = request.split(SEPARATOR);
    if (parts.length <= PARTS) return;
    socket.end((await send(parts, createPath())).map((part) => `${part}${SEPARATOR}`).join(''));
  });
}

/** Sends the request, stores the body of the response, and returns exit code, status and path. */
async function send(parts: readonly string[], path: string): Promise<readonly (number | string)[]> {
  const [method = '', url = '', type = '', headerLines = '', body = ''] = parts;
  const headers = new Headers(type === '' ? {} : { 'content-type': type });
  for (const line of headerLines.split('\n').filter(Boolean)) {
    const at = line.indexOf(':');
    headers.append(line.slice(0, at), line.slice(at + 1).trim());
  }
  // curl accepts any media type, and no encoding.
  if (!headers.has('accept')) headers.set('accept', '*/*');
  headers.set('accept-encoding', 'identity');
  try {
    const response = await fetch(url, {
      method,
      headers,
      redirect: 'manual',
      ...(body !== '' && { body }),
    });
    const kind = TEXT_TYPE.test(response.headers.get('content-type') ?? '') ? 'text' : 'binary';
    const bytes = Buffer.from(await response.arrayBuffer());
    writeFileSync(path, kind === 'text' ? Buffer.concat([bytes, Buffer.from(END_MARK)]) : bytes);
    return [0, response.status, kind, path];
  } catch (error) {
    return [7, String(error), 'text', path];
  }
}
