/** The request of a new run as commands for a terminal and as a Python program. The token stays a placeholder. */
import { formatVisibleJson } from '../../ui/content/json-text.ts';
import { quotePython } from '../../ui/forms/python.ts';
import { quoteShell } from '../../ui/forms/quote-shell.ts';
import type { PlannedRequest } from './request.ts';

/** A request, and the server that it goes to. */
export interface SampleSource {
  request: PlannedRequest;
  /** Origin of the server, such as `http://127.0.0.1:8080`. */
  server: string;
}

const CURL = 'curl -sS --fail-with-body';
const TOKEN = '-H "Authorization: Bearer $SWITCHYARD_TOKEN"';

function buildPaths({ request, server }: SampleSource) {
  const base = `${server}/v1/applications/${encodeURIComponent(request.application)}/runs`;
  return {
    create: `${base}?instance_id=${encodeURIComponent(request.instance)}`,
    upload: `${base}/uploadurl`,
    input: (run: string) => `${base}/${encodeURIComponent(run)}/input?format=url`,
  };
}

/** Returns the request as commands. Those that upload an input need `jq`. */
export function formatCurl(source: SampleSource): string {
  const { request } = source;
  const paths = buildPaths(source);
  const create = (data: string): string =>
    [
      `${CURL} ${TOKEN}`,
      `-H 'Content-Type: application/json'`,
      `--data-binary ${data}`,
      quoteShell(paths.create),
    ].join(' \\\n  ');
  const json = quoteShell(formatVisibleJson(request.body));
  if (!request.upload) return create(json);
  const isFile = 'file' in request.upload;
  const file = 'file' in request.upload ? quoteShell(request.upload.file.name) : 'input';
  return [
    ...(isFile || !('run' in request.upload)
      ? []
      : [
          `url=$(${CURL} ${TOKEN} ${quoteShell(paths.input(request.upload.run))} | jq -r .url)`,
          `${CURL} -o ${file} "$url"`,
        ]),
    `upload=$(${CURL} ${TOKEN} -X POST ${quoteShell(paths.upload)})`,
    `${CURL} -T ${file} "$(printf %s "$upload" | jq -r .upload_url)"`,
    `jq -n --argjson run ${json} --argjson upload "$upload" '$run + {upload_id: $upload.upload_id}' |`,
    create('@-'),
  ].join('\n');
}

/** Returns the request as a Python program that needs no package. */
export function formatPython(source: SampleSource): string {
  const { request } = source;
  const { upload } = request;
  const paths = buildPaths(source);
  const lines = [
    'import json',
    'import os',
    'from urllib.request import Request, urlopen',
    '',
    '',
    'def call(method, url, body=None):',
    '    headers = {"Authorization": "Bearer " + os.environ["SWITCHYARD_TOKEN"], "Content-Type": "application/json"}',
    '    data = None if body is None else json.dumps(body).encode()',
    '    with urlopen(Request(url, data, headers, method=method)) as response:',
    '        return json.load(response)',
    '',
    '',
    `run = json.loads(${quotePython(formatVisibleJson(request.body))})`,
  ];
  if (upload) {
    if ('run' in upload)
      lines.push(`content = urlopen(call("GET", ${quotePython(paths.input(upload.run))})["url"]).read()`);
    else lines.push(`content = open(${quotePython(upload.file.name)}, "rb").read()`);
    lines.push(
      `upload = call("POST", ${quotePython(paths.upload)})`,
      'urlopen(Request(upload["upload_url"], content, method="PUT"))',
      'run["upload_id"] = upload["upload_id"]',
    );
  }
  lines.push(`print(call("POST", ${quotePython(paths.create)}, run)["run_id"])`);
  return lines.join('\n');
}
