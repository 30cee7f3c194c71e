/** Prints the newest experiments of an application. */

import type { ExperimentType } from '@switchyard/contract/experiment-types/experiment-types.ts';
import {
  type ListedExperiment,
  type ListTokens,
  listFirstTokens,
  mergeExperiments,
  readExperiments,
} from '@switchyard/contract/experiments/presentation/list-experiments.ts';
import type { Session } from '../session/session.ts';
import { age } from '../terminal/columns.ts';
import { readTarget } from './find-experiment.ts';

/** Prints the experiments, at most `limit`. The API has a list for each type, so the pages of all are merged. */
export async function listNewest(
  session: Session,
  type: ExperimentType | undefined,
  limit: number,
): Promise<void> {
  const { client, application } = readTarget(session);
  const { signal } = session.terminal;
  const pages = [];
  let tokens: ListTokens | undefined = listFirstTokens(type);
  while (tokens !== undefined && mergeExperiments(pages, type).length < limit) {
    const page = await readExperiments({ client, application, type, tokens, signal });
    pages.push(page);
    tokens = page.next;
  }
  const experiments = mergeExperiments(pages, type).slice(0, limit);
  session.output.printTable(
    experiments,
    {
      EXPERIMENT: 'id',
      TYPE: (one) => one.type,
      NAME: 'name',
      STATUS: 'status',
      RUNS: formatProgress,
      VERDICT: 'verdict',
      CREATED: age('created_at'),
    },
    {
      json: { experiments },
      empty: `Application ${application} has no such experiments.`,
      id: ({ id }) => id,
    },
  );
}

function formatProgress({ progress }: ListedExperiment): string {
  return progress ? `${progress.ended}/${progress.requested}` : '';
}
