/** The tools of the MCP server: operations of the API that read, and those that create and cancel runs. */
import type { Operation } from '@switchyard/contract/operation.ts';
import { type OperationId, operations } from '@switchyard/contract/operations.ts';
import type { Right } from '@switchyard/contract/roles.ts';
import { type JsonSchema, toJsonSchema } from './json-schema.ts';

/** Names of tools and their operations. Names are in snake case, as agents know them from other servers. */
const TOOL_OPERATIONS = {
  list_applications: 'listApplications',
  get_application: 'getApplication',
  list_instances: 'listInstances',
  get_instance: 'getInstance',
  list_versions: 'listVersions',
  list_inputs: 'listInputs',
  list_input_sets: 'listInputSets',
  list_runs: 'listRuns',
  get_run: 'getRunMetadata',
  get_run_input: 'getRunInput',
  get_run_output: 'getRunOutput',
  get_run_logs: 'getRunLogs',
  get_live_run_logs: 'getRunLiveLogs',
  get_run_series: 'getRunSeries',
  list_run_assets: 'listRunAssets',
  search_run_log: 'searchRunLog',
  search_logs: 'searchLogs',
  get_queue: 'getQueue',
  list_workers: 'getWorkers',
  list_batch_experiments: 'listBatchExperiments',
  get_batch_experiment: 'getBatchExperiment',
  list_acceptance_tests: 'listAcceptanceTests',
  get_acceptance_test: 'getAcceptanceTest',
  list_shadow_tests: 'listShadowTests',
  get_shadow_test: 'getShadowTest',
  list_switchback_tests: 'listSwitchbackTests',
  get_switchback_test: 'getSwitchbackTest',
  list_bisect_experiments: 'listBisectExperiments',
  get_bisect_experiment: 'getBisectExperiment',
  plan_experiment: 'planExperiment',
  plan_bisect_experiment: 'planBisectExperiment',
  get_run_ensemble: 'getRunEnsemble',
  create_run: 'createRun',
  cancel_run: 'cancelRun',
} as const satisfies Record<string, OperationId>;

/** A tool of one operation. */
export interface OperationTool {
  name: string;
  operation: Operation;
  id: OperationId;
  inputSchema: JsonSchema;
  isReadOnly: boolean;
}

/** The parts of a request. */
export interface ToolRequest {
  params: Record<string, string>;
  query: Record<string, unknown>;
  body?: Record<string, unknown>;
}

/** Returns the tools of operations, with the schemas of the contract. */
export function listOperationTools(): OperationTool[] {
  return Object.entries(TOOL_OPERATIONS).map(([name, id]) => {
    const operation: Operation = operations[id];
    return {
      name,
      id,
      operation,
      inputSchema: buildInputSchema(operation),
      isReadOnly: operation.method === 'GET' || operation.right === 'read',
    };
  });
}

/** The right that a caller of the tool needs. */
export function getRight({ operation }: OperationTool): Right {
  return operation.right;
}

type Part = 'params' | 'query' | 'body';

/** The fields of each part of a request, by the schemas of the operation. */
function listFields({ params, query, body }: Operation): [part: Part, schema: JsonSchema][] {
  return [
    ...(params ? ([['params', toJsonSchema(params)]] as const) : []),
    ...(query ? ([['query', toJsonSchema(query)]] as const) : []),
    ...(body ? ([['body', toJsonSchema(body.schema)]] as const) : []),
  ].map(([part, schema]): [Part, JsonSchema] => [part, schema]);
}

/** Returns one object schema with the fields of path, query and body. No operation uses a name in two of them. */
function buildInputSchema(operation: Operation): JsonSchema {
  const parts = listFields(operation).map(([, schema]) => schema);
  return {
    type: 'object',
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)),
    required: parts.flatMap(({ required }) => required ?? []),
    additionalProperties: false,
  };
}

/** Splits the arguments of a tool into the parts of the request. Throws an error that names an unknown or missing argument. */
export function splitArguments(
  { name, operation, inputSchema }: OperationTool,
  args: Readonly<Record<string, unknown>>,
): ToolRequest {
  const known = Object.keys(inputSchema.properties ?? {});
  const unknown = Object.keys(args).filter((one) => !known.includes(one));
  const missing = (inputSchema.required ?? []).filter((one) => args[one] === undefined);
  if (unknown.length > 0)
    throw new Error(`${name} has no argument ${unknown.join(', ')}; it has ${known.join(', ') || 'none'}.`);
  if (missing.length > 0) throw new Error(`${name} needs the argument ${missing.join(', ')}.`);
  const request: ToolRequest = { params: {}, query: {}, ...(operation.body ? { body: {} } : {}) };
  for (const [part, { properties }] of listFields(operation))
    for (const field of Object.keys(properties ?? {})) {
      const value = args[field];
      if (value === undefined) continue;
      if (part === 'params') request.params[field] = String(value);
      else if (part === 'query') request.query[field] = value;
      else if (request.body) request.body[field] = value;
    }
  return request;
}
