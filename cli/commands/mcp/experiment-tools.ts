/** Tools that read experiments of every type: the decision first, the tables after it, and the response of the API as a file. */
import type { Client } from '@switchyard/contract/client.ts';
import {
  EXPERIMENT_TYPES,
  type ExperimentType,
} from '@switchyard/contract/experiment-types/experiment-types.ts';
import { type ExperimentView, readExperimentView } from '@switchyard/contract/views/experiment-view.ts';
import { INDICATOR_COLUMNS } from '@switchyard/contract/views/indicator-columns.ts';
import { formatResultTable } from '../../experiments/format-result.ts';
import type { Tone } from '../../terminal/style.ts';
import { formatTable } from '../../terminal/table.ts';
import { type AgentTool, readText, type ToolArguments, textArgument } from './agent-tool.ts';
import type { Answer } from './answers.ts';

const TABLE_WIDTH = 160;

const application_id = textArgument('Id of the application.');
const type = { type: 'string', enum: [...EXPERIMENT_TYPES], description: 'Type of the experiment.' };

export const EXPERIMENT_TOOLS: readonly AgentTool[] = [
  {
    name: 'list_experiments',
    description:
      'Lists the newest experiments of the application, of one type or of all, with their progress and verdicts.',
    inputSchema: {
      type: 'object',
      properties: { application_id, type },
      required: ['application_id'],
      additionalProperties: false,
    },
    ...{ right: 'read', isReadOnly: true, isDestructive: false },
    run: listExperiments,
  },
  {
    name: 'get_experiment',
    description:
      'Returns the result of an experiment: the decision to release its candidate in the first line, then the verdict of each indicator with its interval, and warnings. The whole response of the API is a file.',
    inputSchema: {
      type: 'object',
      properties: { application_id, type, experiment_id: textArgument('Id of the experiment.') },
      required: ['application_id', 'type', 'experiment_id'],
      additionalProperties: false,
    },
    ...{ right: 'read', isReadOnly: true, isDestructive: false },
    run: getExperiment,
  },
];

function readType(args: ToolArguments): ExperimentType | undefined {
  if (args.type === undefined) return undefined;
  const found = EXPERIMENT_TYPES.find((one) => one === args.type);
  if (found) return found;
  throw new Error(`type must be one of ${EXPERIMENT_TYPES.join(', ')}.`);
}

async function listExperiments(client: Client, args: ToolArguments, signal: AbortSignal): Promise<Answer> {
  const application = readText(args, 'application_id');
  const type = readType(args);
  const { body } = await client.call('listExperimentSummaries', {
    params: { application_id: application },
    query: { pagereturn: true, ...(type && { type }) },
    signal,
  });
  return { data: { experiments: body.items, has_older: body.next_page_token !== undefined } };
}

async function getExperiment(client: Client, args: ToolArguments): Promise<Answer> {
  const chosen = readType(args);
  if (chosen === undefined) throw new Error('get_experiment needs the argument type.');
  const address = {
    application: readText(args, 'application_id'),
    type: chosen,
    id: readText(args, 'experiment_id'),
  };
  const view = await readExperimentView(client, address);
  return { data: formatView(view), whole: view.body };
}

/** Returns the decision and the tables, without the pictures of a terminal. */
function formatView(view: ExperimentView): string {
  const { headlines, rules = [], warnings, compared, table, name, status } = view;
  const settings = { tableWidth: TABLE_WIDTH, style: (_tone: Tone, text: string) => text };
  return [
    ...(headlines.length > 0 ? headlines : ['There is no result yet.']),
    `The experiment ${view.address.id} (${name}) is ${status}.`,
    ...rules.map(({ rule, rating, reason }) => `${rating}: ${rule}. ${reason}`),
    ...warnings.map((warning) => `Warning: ${warning}`),
    ...compared.map(
      ({ names, indicators }) =>
        `\n${names.candidate} against ${names.control}\n${formatTable(indicators, INDICATOR_COLUMNS, settings)}`,
    ),
    ...(table ? [`\n${formatResultTable(table, settings)}`] : []),
  ].join('\n');
}
