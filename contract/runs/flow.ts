/**
 * The graph of a workflow: its steps, and the nodes that execute them. `nextpipe` sends the whole graph whenever the
 * status of a node changes, at most every five seconds.
 */
import Type, { type Static } from 'typebox';
import {
  FLOW_BYTES_MAX,
  FLOW_DOCS_CHARS_MAX,
  FLOW_ID_CHARS_MAX,
  FLOW_NODES_MAX,
  FLOW_STEPS_MAX,
} from '../limits.ts';
import { defineOperation, respond } from '../operation.ts';
import { optionalNullable, textSchema, timestampSchema } from '../schemas/field-schemas.ts';
import { RunParams } from './runs.ts';

const createIdSchema = (what: string) => textSchema(`Id of the ${what}.`, { min: 1, max: FLOW_ID_CHARS_MAX });
const createPredecessorsSchema = (what: string) =>
  Type.Array(createIdSchema(what), {
    maxItems: FLOW_NODES_MAX,
    description: `Ids of every ${what} that must end before this one starts.`,
  });

const FlowStep = Type.Object(
  {
    id: createIdSchema('step'),
    predecessors: createPredecessorsSchema('step'),
    docs: optionalNullable(
      textSchema('Documentation of the step, from its source code.', { max: FLOW_DOCS_CHARS_MAX }),
    ),
    app_id: optionalNullable(
      textSchema('The application that the step runs; absent for a step that runs in the workflow itself.', {
        max: FLOW_ID_CHARS_MAX,
      }),
    ),
  },
  { $id: 'FlowStep', description: 'A step of a workflow. Other fields are ignored.' },
);

const FlowNode = Type.Object(
  {
    id: createIdSchema('node'),
    parent_id: createIdSchema('step of the node'),
    predecessor_ids: createPredecessorsSchema('node'),
    status: textSchema(
      'Status of the node. The published client sends `pending`, `running`, `succeeded` or `failed`.',
      { min: 1, max: FLOW_ID_CHARS_MAX },
    ),
    run_id: optionalNullable(
      textSchema('The run that the node created; absent without one.', { max: FLOW_ID_CHARS_MAX }),
    ),
  },
  {
    $id: 'FlowNode',
    description: 'One execution of a step: a step that is repeated has several. Other fields are ignored.',
  },
);

const PipelineGraph = Type.Object(
  {
    steps: Type.Array(FlowStep, {
      maxItems: FLOW_STEPS_MAX,
      description: `Steps of the workflow, at most ${FLOW_STEPS_MAX}.`,
    }),
    nodes: Type.Array(FlowNode, {
      maxItems: FLOW_NODES_MAX,
      description: `Nodes that exist so far, at most ${FLOW_NODES_MAX}.`,
    }),
  },
  { $id: 'PipelineGraph', description: 'The steps of a workflow, and the state of their nodes.' },
);

const FlowUpdate = Type.Object(
  {
    pipeline_graph: PipelineGraph,
    updated_at: optionalNullable(
      textSchema('Time of the update, as the workflow measured it. The server stores its own.', { max: 64 }),
    ),
  },
  {
    $id: 'FlowUpdate',
    description: 'The whole graph; it replaces the one before. Other fields are ignored.',
  },
);
export type FlowUpdate = Static<typeof FlowUpdate>;

export const Flow = Type.Object(
  {
    pipeline_graph: PipelineGraph,
    updated_at: timestampSchema('Time at which the server stored the graph'),
  },
  { $id: 'Flow', description: 'The last graph that the workflow sent.' },
);
export type Flow = Static<typeof Flow>;

const graph = {
  steps: [
    { id: 'prepare', predecessors: [] },
    { id: 'solve', predecessors: ['prepare'], app_id: 'routing' },
  ],
  nodes: [
    { id: 'prepare_0', parent_id: 'prepare', predecessor_ids: [], status: 'succeeded' },
    {
      id: 'solve_0',
      parent_id: 'solve',
      predecessor_ids: ['prepare_0'],
      status: 'running',
      run_id: 'run-01jd3v7k9mq2z5x8',
    },
  ],
};
const example = { pipeline_graph: graph, updated_at: '2026-11-20T08:00:05.000Z' };
const path = '/v1/internal/applications/{application_id}/runs/{run_id}/flow';

export const updateRunFlow = defineOperation({
  id: 'updateRunFlow',
  method: 'PUT',
  path,
  tag: 'runs',
  summary: 'Store the graph of a workflow',
  description:
    'Stores the graph of the workflow that the run executes, in place of the graph before. `nextpipe` calls this operation by itself. A run with a run token may send its own graph alone.',
  right: 'run',
  params: RunParams,
  body: { bytesMax: FLOW_BYTES_MAX, schema: FlowUpdate, example },
  responses: respond(200, 'The stored graph.', Flow, example),
  errors: [404],
});

export const getRunFlow = defineOperation({
  id: 'getRunFlow',
  method: 'GET',
  path,
  tag: 'runs',
  summary: 'Get the graph of a workflow',
  description:
    'Returns the last graph that the run sent. A run that sent none returns 404. The graph of a run that ended abruptly can show nodes as running.',
  right: 'read',
  params: RunParams,
  responses: respond(200, 'The stored graph.', Flow, example),
});
