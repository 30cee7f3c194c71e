/** The MCP server as an agent uses it: a process, and the published client over its standard input and output. */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { Operation } from '@switchyard/contract/operation.ts';
import { operations } from '@switchyard/contract/operations.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import { createInstance } from '@switchyard/server/testing/fixtures/resources.ts';
import { startTestServer, type TestServer } from '@switchyard/server/testing/servers/test-server.ts';
import { Ajv } from 'ajv';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toJsonSchema } from './json-schema.ts';
import { listOperationTools } from './tools.ts';

const folder = mkdtempSync(join(tmpdir(), 'switchyard-mcp-test-'));
const program = join(import.meta.dirname, '..', '..', 'main.ts');
let server: TestServer;
let application_id: string;
let agent: Client;
beforeAll(async () => {
  server = await startTestServer();
  application_id = await createInstance(server);
  agent = await connectAgent(server.token);
});
afterAll(async () => {
  await agent.close();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function connectAgent(token: string, args: string[] = []): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [program, 'mcp', ...args],
      cwd: folder,
      env: {
        ...getDefaultEnvironment(),
        ...{ SWITCHYARD_URL: server.url, SWITCHYARD_TOKEN: token, SWITCHYARD_CONFIG: folder },
      },
    }),
  );
  return client;
}

interface Result {
  isError?: boolean;
  content: { type: string; text?: string; uri?: string; size?: number }[];
}

const call = async (name: string, args: Record<string, unknown> = {}): Promise<Result> => {
  const result = await agent.callTool({ name, arguments: args });
  return JSON.parse(JSON.stringify(result));
};
const callJson = async (name: string, args: Record<string, unknown>) => {
  const { isError, content } = await call(name, args);
  expect(isError, content[0]?.text).toBeFalsy();
  return JSON.parse(content[0]?.text ?? '');
};

test('every tool has a JSON schema that a validator accepts, with all fields of its operation', async () => {
  const { tools } = await agent.listTools();
  expect(tools.length).toBeGreaterThan(30);
  const ajv = new Ajv({ strict: false, validateFormats: false });
  for (const { inputSchema, name, description } of tools) {
    expect(() => ajv.compile(inputSchema), name).not.toThrow();
    expect(description?.length, name).toBeGreaterThan(20);
  }
  for (const { name, id, inputSchema } of listOperationTools()) {
    const { params, query, body }: Operation = operations[id];
    const parts = [params, query, body?.schema].map((part) => toJsonSchema(part ?? {}));
    const fields = parts.flatMap(({ properties }) => Object.keys(properties ?? {}));
    // A field of two parts would be lost in one of them.
    expect(Object.keys(inputSchema.properties ?? {}), name).toHaveLength(fields.length);
    expect(JSON.stringify(inputSchema), name).not.toContain('"nullable"');
  }
});

test('an agent creates a run, waits for it, reads its result and compares it with another', async () => {
  const statistics = (value: number) => ({ statistics: { schema: 'v1', result: { value } } });
  const ids: string[] = [];
  for (const value of [3, 4]) {
    const created = await callJson('create_run', {
      application_id,
      instance_id: 'i1',
      input: statistics(value),
      name: `run ${value}`,
    });
    const ended = await callJson('wait_for_run', { application_id, run_id: created.run_id });
    expect(ended).toMatchObject({ status_v2: 'succeeded', timed_out: false });
    ids.push(created.run_id);
  }
  const { runs } = await callJson('list_runs', { application_id, status: 'succeeded', limit: 1 });
  expect(runs).toMatchObject([{ name: 'run 4' }]);
  expect(await callJson('get_run_output', { application_id, run_id: ids[0] })).toMatchObject({
    output: statistics(3),
  });
  const compared = await callJson('compare_runs', { application_id, run_ids: ids });
  expect(compared).toMatchObject({ run_ids: ids, options: {}, indicators: { 'result.value': [3, 4] } });
  expect(await callJson('get_queue', {})).toMatchObject({ runs: [] });
});

test('a run that has not ended in time is returned as it is', async () => {
  await server.client.call('createInstance', {
    params: { application_id },
    body: { id: 'nowhere', version_id: 'v1', configuration: { requirements: { labels: ['nowhere'] } } },
  });
  const { run_id } = await callJson('create_run', { application_id, instance_id: 'nowhere', input: {} });
  expect(await callJson('wait_for_run', { application_id, run_id, timeout_seconds: 0 })).toMatchObject({
    ...{ status_v2: 'queued', timed_out: true },
  });
  expect((await call('cancel_run', { application_id, run_id })).content[0]?.text).toBe('Done (204).');
});

test('a large result is a file, which the agent reads as a resource, and which goes with the server', async () => {
  const input = { text: 'x'.repeat(100_000) };
  const { run_id } = await callJson('create_run', { application_id, instance_id: 'i1', input });
  await callJson('wait_for_run', { application_id, run_id });
  const other = await connectAgent(server.token);
  const result = await other.callTool({ name: 'get_run_output', arguments: { application_id, run_id } });
  const { content }: Result = JSON.parse(JSON.stringify(result));
  expect(content[0]?.text?.length).toBeLessThan(2000);
  const uri = content[1]?.uri ?? '';
  const path = fileURLToPath(uri);
  expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ output: input });
  expect(statSync(path).mode & 0o077).toBe(0);
  const { contents } = await other.readResource({ uri });
  expect(contents[0]).toMatchObject({ mimeType: 'application/json', text: readFileSync(path, 'utf8') });
  expect((await other.listResources()).resources.map((one) => one.uri)).toEqual([uri]);
  await expect(other.readResource({ uri: 'file:///etc/passwd' })).rejects.toThrow('There is no result');
  await other.close();
  expect(existsSync(path)).toBe(false);
});

test('errors say what the server refused, and which argument is wrong', async () => {
  expect(await call('get_run', { application_id, run_id: 'nothing' })).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(/^The server refused with status 404: .*nothing/) }],
  });
  expect((await call('get_run', { application_id })).content[0]?.text).toBe(
    'get_run needs the argument run_id.',
  );
  expect((await call('list_runs', { application_id, state: 'x' })).content[0]?.text).toContain(
    'no argument state',
  );
  await expect(call('delete_everything')).rejects.toThrow('There is no tool delete_everything');
});

test.each<[Role, string[]]>([
  ['viewer', []],
  ['operator', ['--read-only']],
])('a %s with %j is offered nothing that changes runs', async (role, args) => {
  const { token } = await server.createKey(role);
  const client = await connectAgent(token, args);
  const names = (await client.listTools()).tools.map(({ name }) => name);
  expect(names).toContain('list_runs');
  expect(names.filter((name) => ['create_run', 'cancel_run'].includes(name))).toEqual([]);
  await expect(
    client.callTool({ name: 'create_run', arguments: { application_id, input: {} } }),
  ).rejects.toThrow('There is no tool create_run');
  await client.close();
});
