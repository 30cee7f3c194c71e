/** The tools of the MCP server that are one operation of the API each. The answer to a list has only the named fields of its rows. */
import type { Client } from '@switchyard/contract/client.ts';
import type { Operation } from '@switchyard/contract/operation.ts';
import { type OperationId, operations } from '@switchyard/contract/operations.ts';
import { isRecord } from '@switchyard/contract/schemas/is-record.ts';
import type { AgentTool, ToolArguments } from './agent-tool.ts';
import type { Answer } from './answers.ts';
import { type JsonSchema, toJsonSchema } from './json-schema.ts';

interface ToolSettings {
  id: OperationId;
  /** The fields of the rows of a list; all without. */
  fields?: readonly string[];
  /** Fields of the request that the tool does not have. */
  omitted?: readonly string[];
  isDestructive?: true;
}

const PAGE_SHAPE = 'pagereturn';

/** Names are in snake case, as agents know them from other servers. */
const TOOL_OPERATIONS: Readonly<Record<string, ToolSettings>> = {
  list_applications: {
    id: 'listApplications',
    fields: ['id', 'name', 'description', 'default_instance', 'objective', 'baseline_run_id', 'updated_at'],
  },
  list_instances: {
    id: 'listInstances',
    fields: ['id', 'name', 'description', 'version_id', 'locked', 'updated_at'],
  },
  list_versions: { id: 'listVersions', fields: ['id', 'name', 'description', 'created_at'] },
  list_inputs: { id: 'listInputs' },
  list_input_sets: { id: 'listInputSets', fields: ['id', 'name', 'description', 'input_ids', 'updated_at'] },
  get_run_input: { id: 'getRunInput' },
  get_run_output: { id: 'getRunOutput' },
  get_run_series: { id: 'getRunSeries' },
  search_logs: { id: 'searchLogs' },
  get_queue: {
    id: 'getQueue',
    fields: ['id', 'name', 'status_v2', 'application_id', 'created_at', 'queuing_priority', 'waiting'],
  },
  plan_experiment: { id: 'planExperiment' },
  create_run: { id: 'createRun', omitted: ['result', 'tracking'] },
  cancel_run: { id: 'cancelRun', isDestructive: true },
  create_batch_experiment: { id: 'createBatchExperiment' },
  create_acceptance_test: { id: 'createAcceptanceTest' },
};

/** Lists the tools of operations, with the schemas of the contract. */
export function listOperationTools(): AgentTool[] {
  return Object.entries(TOOL_OPERATIONS).map(([name, settings]) => {
    const operation: Operation = operations[settings.id];
    const inputSchema = buildInputSchema(operation, settings.omitted);
    return {
      name,
      description: `${operation.summary}. ${operation.description}`,
      inputSchema,
      right: operation.right,
      isReadOnly: operation.method === 'GET' || operation.right === 'read',
      isDestructive: settings.isDestructive ?? false,
      run: (client, args, signal) => callOperation(client, settings, { args, signal }),
    };
  });
}

async function callOperation(
  client: Client,
  { id, fields }: ToolSettings,
  { args, signal }: { args: ToolArguments; signal: AbortSignal },
): Promise<Answer> {
  const { status, body } = await client.callUntyped(id, { ...splitArguments(operations[id], args), signal });
  if (body === undefined) return { data: `Done (${status}).` };
  return { data: fields ? selectFields(body, fields) : body };
}

/** Returns the list with these fields of its rows. The list of runs has its rows twice for a caller that pages. */
function selectFields(body: unknown, fields: readonly string[]): unknown {
  if (Array.isArray(body)) return body.map((row) => selectRowFields(row, fields));
  if (!isRecord(body)) return body;
  const { items, runs, ...rest } = body;
  const rows: unknown = runs ?? items;
  return { [runs ? 'runs' : 'items']: selectFields(rows, fields), ...rest };
}

function selectRowFields(row: unknown, fields: readonly string[]): unknown {
  if (!isRecord(row)) return row;
  const present = fields.filter((name) => row[name] !== undefined && row[name] !== '' && row[name] !== null);
  return Object.fromEntries(present.map((name) => [name, row[name]]));
}

type Part = 'params' | 'query' | 'body';

/** The parts of a request. */
interface ToolRequest {
  params: Record<string, string>;
  query: Record<string, unknown>;
  body?: Record<string, unknown>;
}

/** The fields of each part of a request, by the schemas of the operation. */
function listFields({ params, query, body }: Operation): [part: Part, schema: JsonSchema][] {
  return [
    ...(params ? ([['params', toJsonSchema(params)]] as const) : []),
    ...(query ? ([['query', toJsonSchema(query)]] as const) : []),
    ...(body ? ([['body', toJsonSchema(body.schema)]] as const) : []),
  ].map(([part, schema]): [Part, JsonSchema] => [part, schema]);
}

/** Returns one object schema with the fields of path, query and body. No operation uses a name in two of them. */
export function buildInputSchema(operation: Operation, omitted: readonly string[] = []): JsonSchema {
  const parts = listFields(operation).map(([, schema]) => schema);
  const properties: Record<string, JsonSchema> = Object.assign(
    {},
    ...parts.map(({ properties: fields }) => fields),
  );
  for (const name of [PAGE_SHAPE, ...omitted]) delete properties[name];
  return {
    type: 'object',
    properties,
    required: parts.flatMap(({ required }) => required ?? []),
    additionalProperties: false,
  };
}

/** Splits the arguments of a tool into the parts of the request. Lists are asked for as objects with a token of the next page. */
export function splitArguments(operation: Operation, args: ToolArguments): ToolRequest {
  const request: ToolRequest = { params: {}, query: {}, ...(operation.body ? { body: {} } : {}) };
  for (const [part, { properties }] of listFields(operation))
    for (const field of Object.keys(properties ?? {})) {
      const value = field === PAGE_SHAPE ? true : args[field];
      if (value === undefined) continue;
      if (part === 'params') request.params[field] = String(value);
      else if (part === 'query') request.query[field] = value;
      else if (request.body) request.body[field] = value;
    }
  return request;
}
