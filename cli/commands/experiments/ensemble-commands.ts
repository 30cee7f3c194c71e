/** Commands for ensembles: their definitions, and why a run of one has its winner. */
import { type ResponseBody, toBody } from '@switchyard/contract/client.ts';
import { readTarget } from '../../experiments/find-experiment.ts';
import { formatEnsembleRun } from '../../experiments/format-ensemble-run.ts';
import { readObject } from '../../experiments/read-spec.ts';
import type { Session } from '../../session/session.ts';
import { cleanLine } from '../../terminal/clean-text.ts';
import { age } from '../../terminal/columns.ts';
import { defineCommand } from '../resource/define-command.ts';
import { defineResource } from '../resource/define-resource.ts';

type Ensemble = ResponseBody<'getEnsemble'>;

/** Defines `ensembles` with its commands. */
export const defineEnsembleCommands = defineResource({
  name: 'ensembles',
  noun: 'ensemble',
  text: 'Define ensembles, and read why a run of one has its winner.',
  list: {
    operation: 'listEnsembles',
    text: 'List the ensembles of the application, the newest first.',
    columns: {
      ENSEMBLE: 'id',
      NAME: 'name',
      GROUPS: ({ run_groups }) => run_groups.map((one) => one.id).join(', '),
      RULES: ({ rules }) => rules.map((one) => one.statistics_path).join(', '),
      CREATED: age('created_at'),
    },
  },
  get: {
    operation: 'getEnsemble',
    text: 'Print the run groups of an ensemble, and the rules by which it chooses.',
    example: 'cheapest',
  },
  update: {
    operation: 'updateEnsemble',
    text: 'Change the name and the description of an ensemble. Its groups and rules never change.',
    options: { name: ['<name>', 'The new name.'], description: ['<text>', 'The new description.'] },
    example: 'cheapest --name "Cheapest, then shortest"',
  },
  remove: {
    operation: 'deleteEnsemble',
    text: 'Delete the definition of an ensemble. Its runs stay.',
    example: 'cheapest',
    print: ({ output }, _body, { ensemble_id }) => {
      const id = String(ensemble_id);
      output.printSentence({ id }, `Deleted ensemble ${id}.`, id);
    },
  },
  show: ({ id, name, description, run_groups, rules, created_at }) => ({
    ensemble: id,
    name,
    description,
    ...Object.fromEntries(run_groups.map((one) => [`group ${cleanLine(one.id)}`, formatGroup(one)])),
    ...Object.fromEntries(
      rules.map((one) => [`rule ${one.index}`, `${one.objective} ${one.statistics_path}`]),
    ),
    created: created_at,
  }),
  more: (group, session) => {
    group
      .command('create')
      .description('Create an ensemble from a YAML or JSON file with exactly the body of the API.')
      .requiredOption('--file <file>', 'The file with id, name, run_groups and rules.')
      .addHelpText('after', '\nExample:\n  switchyard ensembles create --file ensemble.yaml')
      .action(({ file }) => createEnsemble(session, file));
    defineCommand(group, session, {
      name: 'result',
      operation: 'getRunEnsemble',
      text: 'Print the child runs of an ensemble run, and why the winner won.',
      arguments: { run_id: ['<run>', 'The id of the ensemble run.'] },
      example: 'run-01jd3v7k9mq2z5x8',
      print: ({ output }, body) =>
        output.print({
          json: body,
          text: () => formatEnsembleRun(body, output),
          quiet: () => body.rules_result?.best_run_id ?? [],
        }),
    });
  },
});

async function createEnsemble(session: Session, file: string): Promise<void> {
  const { client, application } = readTarget(session);
  const { body } = await client.call('createEnsemble', {
    params: { application_id: application },
    body: toBody('createEnsemble', readObject(session.terminal, file)),
  });
  session.output.printSentence(
    body,
    `Created ensemble ${body.id} with ${body.run_groups.length} groups.`,
    body.id,
  );
}

function formatGroup({ instance_id, repetitions, options }: Ensemble['run_groups'][number]): string {
  const chosen = Object.entries(options ?? {}).map(([name, value]) => `${name}=${value}`);
  return [`${repetitions ?? 1} × ${instance_id}`, ...chosen].join(' ');
}
