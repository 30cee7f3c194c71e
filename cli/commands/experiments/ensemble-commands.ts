/** Commands for ensembles: their definitions, and why a run of one has its winner. */
import type { Command } from '@commander-js/extra-typings';
import type { CallResponse } from '@switchyard/contract/client.ts';
import type { Operations } from '@switchyard/contract/operations.ts';
import { CommandError } from '../../errors/command-error.ts';
import { toBody } from '../../experiments/create-experiment.ts';
import { readTarget } from '../../experiments/find-experiment.ts';
import { formatEnsembleRun } from '../../experiments/format-ensemble-run.ts';
import { readObject } from '../../experiments/read-spec.ts';
import { dropUndefined } from '../../session/drop-undefined.ts';
import { listItems } from '../../session/list-items.ts';
import type { Session } from '../../session/session.ts';
import { cleanLine } from '../../terminal/clean-text.ts';
import { formatAge } from '../../terminal/format-time.ts';
import { formatFields } from '../../terminal/table.ts';

type Ensemble = CallResponse<Operations['getEnsemble']>['body'];

/** Defines `ensembles` with its commands. */
export function defineEnsembleCommands(program: Command, session: Session): void {
  const group = program
    .command('ensembles')
    .description('Define ensembles, and read why a run of one has its winner.')
    .addHelpText('after', '\nExample:\n  switchyard ensembles list --app routing');
  group
    .command('list')
    .description('List the ensembles of the application, the newest first.')
    .addHelpText('after', '\nExample:\n  switchyard ensembles list')
    .action(() => listEnsembles(session));
  group
    .command('get')
    .description('Print the run groups of an ensemble, and the rules by which it chooses.')
    .argument('<id>', 'The id of the ensemble.')
    .addHelpText('after', '\nExample:\n  switchyard ensembles get cheapest')
    .action(async (id) => {
      const { client, application } = readTarget(session);
      const params = { application_id: application, ensemble_id: id };
      printEnsemble(session, (await client.call('getEnsemble', { params })).body);
    });
  group
    .command('create')
    .description('Create an ensemble from a YAML or JSON file with exactly the body of the API.')
    .requiredOption('--file <file>', 'The file with id, name, run_groups and rules.')
    .addHelpText('after', '\nExample:\n  switchyard ensembles create --file ensemble.yaml')
    .action(({ file }) => createEnsemble(session, file));
  group
    .command('update')
    .description('Change the name and the description of an ensemble. Its groups and rules never change.')
    .argument('<id>', 'The id of the ensemble.')
    .option('--name <name>', 'The new name.')
    .option('--description <text>', 'The new description.')
    .addHelpText(
      'after',
      '\nExample:\n  switchyard ensembles update cheapest --name "Cheapest, then shortest"',
    )
    .action((id, changes) => updateEnsemble(session, id, changes));
  group
    .command('delete')
    .description('Delete the definition of an ensemble. Its runs stay.')
    .argument('<id>', 'The id of the ensemble.')
    .addHelpText('after', '\nExample:\n  switchyard ensembles delete cheapest')
    .action(async (id) => {
      const { client, application } = readTarget(session);
      await client.call('deleteEnsemble', { params: { application_id: application, ensemble_id: id } });
      session.output.print({ json: { id }, text: () => `Deleted ensemble ${id}.\n`, quiet: () => id });
    });
  group
    .command('result')
    .description('Print the child runs of an ensemble run, and why the winner won.')
    .argument('<run>', 'The id of the ensemble run.')
    .addHelpText('after', '\nExample:\n  switchyard ensembles result run-01jd3v7k9mq2z5x8')
    .action((run) => printEnsembleRun(session, run));
}

async function listEnsembles(session: Session): Promise<void> {
  const { client, application } = readTarget(session);
  const { body } = await client.call('listEnsembles', { params: { application_id: application } });
  const now = Date.now();
  session.output.printTable(
    listItems(body),
    [
      { title: 'ENSEMBLE', value: ({ id }) => id },
      { title: 'NAME', value: ({ name }) => name },
      { title: 'GROUPS', value: ({ run_groups }) => run_groups.map((one) => one.id).join(', ') },
      { title: 'RULES', value: ({ rules }) => rules.map((one) => one.statistics_path).join(', ') },
      { title: 'CREATED', value: ({ created_at }) => formatAge(Date.parse(created_at), now) },
    ],
    { json: body, empty: `Application ${application} has no ensembles.`, id: ({ id }) => id },
  );
}

async function createEnsemble(session: Session, file: string): Promise<void> {
  const { client, application } = readTarget(session);
  const { body } = await client.call('createEnsemble', {
    params: { application_id: application },
    body: toBody('createEnsemble', readObject(session.terminal, file)),
  });
  session.output.print({
    json: body,
    text: () => `Created ensemble ${body.id} with ${body.run_groups.length} groups.\n`,
    quiet: () => body.id,
  });
}

async function updateEnsemble(
  session: Session,
  id: string,
  { name, description }: { name?: string; description?: string },
): Promise<void> {
  if (name === undefined && description === undefined)
    throw new CommandError('Nothing to change was given. Give --name or --description.');
  const { client, application } = readTarget(session);
  const { body } = await client.call('updateEnsemble', {
    params: { application_id: application, ensemble_id: id },
    body: dropUndefined({ name, description }),
  });
  printEnsemble(session, body);
}

function printEnsemble({ output }: Session, ensemble: Ensemble): void {
  const { id, name, description, run_groups, rules, created_at } = ensemble;
  output.print({
    json: ensemble,
    text: () =>
      formatFields({
        ensemble: id,
        name,
        description,
        ...Object.fromEntries(run_groups.map((one) => [`group ${cleanLine(one.id)}`, formatGroup(one)])),
        ...Object.fromEntries(
          rules.map((one) => [`rule ${one.index}`, `${one.objective} ${one.statistics_path}`]),
        ),
        created: created_at,
      }),
    quiet: () => id,
  });
}

function formatGroup({ instance_id, repetitions, options }: Ensemble['run_groups'][number]): string {
  const chosen = Object.entries(options ?? {}).map(([name, value]) => `${name}=${value}`);
  return [`${repetitions ?? 1} × ${instance_id}`, ...chosen].join(' ');
}

async function printEnsembleRun(session: Session, run: string): Promise<void> {
  const { client, application } = readTarget(session);
  const { body } = await client.call('getRunEnsemble', {
    params: { application_id: application, run_id: run },
  });
  session.output.print({
    json: body,
    text: () => formatEnsembleRun(body, session.output),
    quiet: () => body.rules_result?.best_run_id ?? [],
  });
}
