/** Lists the runs of an experiment. */

import type { Command } from '@commander-js/extra-typings';
import {
  type ExperimentAddress,
  listExperimentRuns,
} from '@switchyard/contract/experiments/presentation/call-experiment.ts';
import { parseCount } from '../../experiments/read-options.ts';
import { readPages } from '../../session/list-items.ts';
import type { Session } from '../../session/session.ts';
import { age } from '../../terminal/columns.ts';
import { locateExperiment, TYPE_OPTION } from './type-option.ts';

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
    const { runs, ...page } = await listExperimentRuns(client, address, query);
    return { ...page, items: runs };
  });
  session.output.printTable(
    items,
    {
      RUN: 'id',
      STATUS: 'status_v2',
      INSTANCE: 'application_instance_id',
      VERSION: 'application_version_id',
      INPUT: 'input_id',
      UNIT: { value: ({ plan_unit_index }) => plan_unit_index, isNumeric: true },
      CREATED: age('created_at'),
    },
    {
      json: { runs: items, ...rest },
      empty: `The ${address.type} ${address.id} has no runs.`,
      id: ({ id }) => id,
    },
  );
}
