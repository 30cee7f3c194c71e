/**
 * `nextpipe`, the published package for workflows, unchanged. Its own example pipelines, and one with every decorator, run as
 * apps in the sandbox, with the access that `api_access` gives. The package is installed from the index, and
 * its examples come from its source archive there.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import {
  createRun,
  type Files,
  packFiles,
  pushApp,
  pushArchive,
  waitForRunEnd,
} from '@switchyard/server/testing/fixtures/apps.ts';
import { installPythonPackage } from '@switchyard/server/testing/python/python-package.ts';
import { startTestServer, type TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const VERSION = '0.7.3';
const RUNTIME = 'ghcr.io/nextmv-io/runtime/python:3.11';
const DEPENDENCIES = '.nextmv/python/deps';
const run = promisify(execFile);

/** The modules of the installed packages as files of an app, and the folder of the examples; or why there are none. */
async function openNextpipe(): Promise<{ files: Files; examples: string; folder: string } | string> {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-nextpipe-'));
  try {
    const { interpreterPath } = await installPythonPackage('nextpipe');
    const locate = 'from importlib.util import find_spec; print(find_spec("nextpipe").origin, end="")';
    const { stdout } = await run(interpreterPath, ['-c', locate]);
    const packages = dirname(dirname(stdout));
    const source = ['download', '--quiet', '--no-deps', '--no-binary', ':all:', '--dest', folder];
    await run(interpreterPath, ['-m', 'pip', ...source, `nextpipe==${VERSION}`], { timeout: 300_000 });
    await run('tar', ['-xzf', join(folder, `nextpipe-${VERSION}.tar.gz`), '-C', folder]);
    const examples = join(folder, `nextpipe-${VERSION}`, 'tests');
    return { files: readPackages(packages), examples, folder };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    return (error as Error).message;
  }
}

/** Reads every module, without the installer and the templates, which have other packages. */
function readPackages(folder: string): Files {
  const files: Files = {};
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (/^(pip|setuptools|pkg_resources|_distutils_hack|distutils)|nextmv\/templates|__pycache__/.test(path))
      continue;
    const full = join(folder, path);
    if (statSync(full).isFile()) files[`${DEPENDENCIES}/${path}`] = readFileSync(full);
  }
  return files;
}

const nextpipe = await openNextpipe();
const isMissing = typeof nextpipe === 'string';
if (isMissing) process.stderr.write(`\nSKIPPED: nextpipe did not run against the server. ${nextpipe}\n\n`);

/** The pipelines of the package. */
const EXAMPLES = ['chain', 'appapp', 'foreach', 'foreach-2-pred', 'fail', 'complex', 'multifile'] as const;
type Example = (typeof EXAMPLES)[number];

/** The applications that the pipelines run. */
const APPLICATIONS = [
  'echo',
  'echo-multi',
  'routing-nextroute',
  'routing-ortools',
  'routing-pyvroom',
  'pricing',
];

/** All pipelines are files of one app, to pack the modules once; its option `pipeline` names the program that replaces this one. */
const START = 'import os, sys\nos.execv(sys.executable, [sys.executable, sys.argv[2]])\n';

describe.skipIf(isMissing)('nextpipe', () => {
  const params = { application_id: 'workflows' };
  let server: TestServer;
  let archive: Buffer;
  beforeAll(async () => {
    if (typeof nextpipe === 'string') return;
    const { files, examples } = nextpipe;
    // One slot for all workflows and all of their runs.
    server = await startTestServer({ env: { SWITCHYARD_CAPACITY: '1' } });
    const own: Files = { 'fan-out.py': readFileSync(join(import.meta.dirname, 'fan-out.py'), 'utf8') };
    own['start.py'] = START;
    for (const name of EXAMPLES)
      own[`${name}.py`] = readFileSync(join(examples, 'pipelines', `${name}.py`), 'utf8');
    for (const name of ['echo', 'echo-multi'])
      own[`${name}.py`] = readFileSync(join(examples, 'apps', name, 'main.py'), 'utf8');
    archive = await packFiles({
      'app.yaml': `type: python\nruntime: ${RUNTIME}\nfiles: ["**"]\n`,
      ...own,
      ...files,
    });
    await pushWorkflows();
    await pushPython('echo', 'echo.py');
    await pushPython('echo-multi', 'echo-multi.py', 'multi-file');
    for (const [id, value] of [
      ['routing-nextroute', 3],
      ['routing-ortools', 2],
      ['routing-pyvroom', 1],
    ] as const)
      await pushShell(
        id,
        `cat > /dev/null; echo '{"statistics": {"result": {"value": ${value}}}, "by": "${id}"}'`,
      );
    await pushShell(
      'pricing',
      `read -r input; box=$(echo "$input" | sed 's/.*"box": *\\([0-9]*\\).*/\\1/'); echo "{\\"solution\\": {\\"price\\": $box}}"`,
    );
  });
  afterAll(async () => {
    await server?.close();
    if (typeof nextpipe !== 'string') rmSync(nextpipe.folder, { recursive: true, force: true });
  });

  async function pushPython(id: string, entrypoint: string, format?: 'multi-file'): Promise<void> {
    await server.client.call('createApplication', { body: { id, name: `App ${id}` } });
    const requirements = {
      ...{ executable_type: 'python', runtime: RUNTIME, entrypoint },
      ...(format ? { io_configuration: { format } } : {}),
    };
    const { status, text } = await pushArchive(server, id, archive, { requirements });
    if (status >= 300) throw new Error(`${id} was refused: ${text}`);
  }
  const pushShell = (id: string, script: string) =>
    pushApp(
      server,
      id,
      { 'main.sh': `#!/bin/sh\n${script}\n` },
      { executable_type: 'binary', entrypoint: 'main.sh' },
    );

  async function pushWorkflows(): Promise<void> {
    await pushPython('workflows', 'start.py');
    await server.client.call('createVersion', { params, body: { id: 'v1', name: 'Version 1' } });
    const configuration = { api_access: { applications: [...APPLICATIONS] as never[] } };
    const instance = { id: 'flow', name: 'Workflow', version_id: 'v1', configuration };
    await server.client.call('createInstance', { params, body: instance });
  }

  async function runPipeline(file: string, request: { input?: unknown; body?: Record<string, unknown> }) {
    const body = { ...request.body, name: file, options: { pipeline: file } };
    const id = await createRun(server, 'workflows', { ...request, instance: 'flow', body });
    return waitForRunEnd(server, 'workflows', id);
  }

  async function runExample(name: Example, examples: string) {
    const path = join(examples, 'pipelines', `${name === 'fail' ? 'chain' : name}.json`);
    return runPipeline(
      `${name}.py`,
      name === 'multifile' ? await uploadInputs() : { input: JSON.parse(readFileSync(path, 'utf8')) },
    );
  }

  /** Sends the input files of the example, as `nextmv` does. */
  async function uploadInputs() {
    if (typeof nextpipe === 'string') throw new Error(nextpipe);
    const inputs = join(nextpipe.examples, 'pipelines', 'inputs');
    const packed = await packFiles(
      Object.fromEntries(readdirSync(inputs).map((name) => [name, readFileSync(join(inputs, name))])),
    );
    const { body } = await server.client.call('createRunUpload', { params });
    await fetch(body.upload_url, { method: 'PUT', body: new Uint8Array(packed) });
    const format = { input: { type: 'multi-file' }, output: { type: 'multi-file' } };
    return { body: { upload_id: body.upload_id, configuration: { format } } };
  }

  const readFlow = async (run_id: string) => {
    const { body } = await server.client.call('getRunFlow', { params: { ...params, run_id } as never });
    return body.pipeline_graph;
  };

  test('its own examples run unchanged, all at once on one slot', async () => {
    if (typeof nextpipe === 'string') throw new Error(nextpipe);
    const { examples } = nextpipe;
    const readGolden = (name: Example): unknown =>
      JSON.parse(readFileSync(join(examples, 'pipelines', `${name}.json.golden`), 'utf8'));
    const ended = await Promise.all(
      EXAMPLES.map(async (name) => [name, await runExample(name, examples)] as const),
    );
    const runs = Object.fromEntries(ended) as Record<Example, (typeof ended)[number][1]>;
    for (const [name, { status_v2, error_log, id }] of ended) {
      const isList = name.startsWith('foreach');
      expect([name, status_v2, error_log?.error]).toEqual([
        name,
        name === 'fail' || isList ? 'failed' : 'succeeded',
        isList ? expect.stringContaining('JSON') : name === 'fail' ? expect.any(String) : undefined,
      ]);
      const { steps, nodes } = await readFlow(id);
      expect(steps.length).toBeGreaterThan(1);
      const failed = nodes.filter(({ status }) => status !== 'succeeded').map(({ parent_id }) => parent_id);
      expect([name, failed]).toEqual([name, name === 'fail' ? ['fail'] : []]);
      // These print a JSON list, which is a result on a terminal, and no output of an app: that is an object.
      if (isList)
        expect(listEchoes(JSON.parse(error_log?.stdout ?? ''))).toEqual(listEchoes(readGolden(name)));
    }
    expect(runs.fail.error_log?.stderr).toContain('ValueError: Something went wrong');
    for (const name of ['chain', 'appapp'] as const)
      expect([name, listEchoes(runs[name].output)]).toEqual([name, listEchoes(readGolden(name))]);
    expect(runs.complex.output).toMatchObject({ by: 'routing-ortools' });
  });

  test('a workflow with every decorator creates 20 runs on one slot, and shows its graph', async () => {
    const ended = await runPipeline('fan-out.py', { input: { base: 5 } });
    const { id } = ended;
    expect(ended.error_log?.stderr).toBeUndefined();
    expect(ended.output).toMatchObject({ solution: { total: 190, samples: [5, 5, 5] } });
    const { steps, nodes } = await readFlow(id);
    expect(steps.map((step) => [step.id, step.predecessors, step.app_id])).toEqual([
      ['read', [], undefined],
      ['report', ['read'], undefined],
      ['sample', ['read'], undefined],
      ['boxes', ['read'], undefined],
      ['price', ['boxes'], 'pricing'],
      ['total', ['price'], undefined],
      ['finish', ['total', 'sample'], undefined],
    ]);
    const priced = nodes.filter((node) => node.parent_id === 'price');
    expect(priced.map(({ status }) => status)).toEqual(Array(20).fill('succeeded'));
    const { body } = await server.request('GET', '/v1/applications/pricing/runs?limit=50');
    const children = (body as { runs: { id: string; parent_run_id: string }[] }).runs;
    expect(children.map((child) => child.parent_run_id)).toEqual(Array(20).fill(id));
    expect(priced.map((node) => node.run_id).sort()).toEqual(children.map((child) => child.id).sort());
  });
});

/**
 * Returns everything that the echoing app printed, in order. The expected results of the package are older than its present
 * client, which adds empty options, and its decorator `@join`, which nests the results of one step. Durations differ from run
 * to run, and this server passes an option as two arguments: `-param`, `0`.
 */
function listEchoes(value: unknown): unknown[] {
  const text = JSON.stringify(value)
    .replaceAll(/"duration":[\d.e-]+/g, '"duration":0')
    .replaceAll('"options":{},', '')
    .replaceAll(/"(-\w+)","(\w+)"/g, '"$1=$2"');
  const echoes: unknown[] = [];
  JSON.parse(text, (name, found: unknown) => {
    if (name === 'echo') echoes.push(found);
    return found;
  });
  return echoes;
}
