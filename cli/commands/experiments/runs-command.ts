/** Lists the runs of an experiment. */
import type { Command } from '@commander-js/extra-typings';
import type { CallResponse, Client } from '@switchyard/contract/client.ts';
import type { Operations } from '@switchyard/contract/operations.ts';
import type { ExperimentAddress } from '../../experiments/find-experiment.ts';
import { parseCount } from '../../experiments/read-options.ts';
import { readPages } from '../../session/list-items.ts';
import type { Session } from '../../session/session.ts';
import { formatAge } from '../../terminal/format-time.ts';
import { locateExperiment, TYPE_OPTION } from './type-option.ts';

type RunsPage = CallResponse<Operations['listBatchExperimentRuns']>['body'];
type PageQuery = { limit: number; pagetoken?: string };

/** Defines `experiments runs`. */
export function defineRuns(group: Pick<Command, 'command'>, session: Session): void {
  group
    .command('runs')
    .description('List the runs of an experiment, the newest first.')
    .argument('<id>', 'The id of the experiment.')
    .option(...TYPE_OPTION)
    .option('--limit <count>', 'The number of runs.', parseCount, 20)
    .option('--all', 'All runs, whatever their number.')
    .addHelpText('after', '\nExample:\n  switchyard experiments runs faster-search --all --quiet')
    .action(async (id, { type, limit, all }) => {
      const address = await locateExperiment(session, id, type);
      await printRuns(session, address, all ? Number.POSITIVE_INFINITY : limit);
    });
}

async function printRuns(session: Session, address: ExperimentAddress, limit: number): Promise<void> {
  const client = session.connect();
  const { items, ...rest } = await readPages(limit, async (query) => {
    const { runs, ...page } = await fetchRuns(client, address, query);
    return { ...page, items: runs };
  });
  const now = Date.now();
  session.output.printTable(
    items,
    [
      { title: 'RUN', value: ({ id }) => id },
      { title: 'STATUS', value: ({ status_v2 }) => status_v2 },
      { title: 'INSTANCE', value: ({ application_instance_id }) => application_instance_id },
      { title: 'VERSION', value: ({ application_version_id }) => application_version_id },
      { title: 'INPUT', value: ({ input_id }) => input_id },
      { title: 'UNIT', value: ({ plan_unit_index }) => plan_unit_index, isNumeric: true },
      { title: 'CREATED', value: ({ created_at }) => formatAge(Date.parse(created_at), now) },
    ],
    {
      json: { runs: items, ...rest },
      empty: `The ${address.type} ${address.id} has no runs.`,
      id: ({ id }) => id,
    },
  );
}

/** An acceptance test has the runs of its batch. */
async function fetchRuns(
  client: Client,
  { application, type, id }: ExperimentAddress,
  query: PageQuery,
): Promise<RunsPage> {
  const params = { application_id: application };
  switch (type) {
    case 'batch':
    case 'scenario':
      return (await client.call('listBatchExperimentRuns', { params: { ...params, batch_id: id }, query }))
        .body;
    case 'acceptance': {
      const { body } = await client.call('getAcceptanceTest', { params: { ...params, acceptance_id: id } });
      const batch = { ...params, batch_id: body.experiment_id };
      return (await client.call('listBatchExperimentRuns', { params: batch, query })).body;
    }
    case 'shadow':
      return (await client.call('listShadowTestRuns', { params: { ...params, shadow_id: id }, query })).body;
    case 'switchback':
      return (
        await client.call('listSwitchbackTestRuns', { params: { ...params, switchback_id: id }, query })
      ).body;
    case 'bisect':
      return (await client.call('listBisectExperimentRuns', { params: { ...params, bisect_id: id }, query }))
        .body;
  }
}
