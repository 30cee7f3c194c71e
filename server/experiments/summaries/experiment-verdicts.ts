/** Verdicts of ended experiments for the list of all types. Each is computed from the stored results once, and stored. */
import { hash } from 'node:crypto';
import { ExperimentVerdict } from '@switchyard/contract/experiments/experiment-summaries.ts';
import { rateRules } from '@switchyard/contract/experiments/presentation/rate-experiment.ts';
import { nullable } from '@switchyard/contract/schemas/field-schemas.ts';
import { createJsonParser } from '@switchyard/contract/schemas/json-parser.ts';
import Type from 'typebox';
import type { Database } from '../../platform/database/database.ts';
import { formatAcceptanceTest } from '../acceptance/format-acceptance-test.ts';
import type { QuestionMemory } from '../questions/question-memory.ts';
import type { ResultsWorkerPool } from '../results/results-worker-pool.ts';
import { findAcceptanceTest, type ListedAcceptanceTest } from '../store/acceptance-tests.ts';
import type { ExperimentsTable } from '../store/schema.ts';

type Verdict = ExperimentVerdict | null;

type Rated = Pick<ExperimentsTable, 'uid' | 'definition'>;

interface Parts {
  database: Database;
  questionMemory: QuestionMemory;
  resultsWorkerPool: ResultsWorkerPool;
}

const parseVerdict = createJsonParser(nullable(ExperimentVerdict));
const parseStored = createJsonParser(
  Type.Object({ definition: Type.String(), verdict: nullable(ExperimentVerdict) }),
);

/** Results change only with the definition. A server of an earlier release that writes them leaves the verdict. */
const hashDefinition = ({ definition }: Pick<Rated, 'definition'>): string =>
  hash('sha256', definition, 'base64');

/** Reads verdicts, and stores those that no list has asked for before. */
export class ExperimentVerdicts {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Returns the verdicts of the experiments that have results, by uid. */
  async read(experiments: readonly Rated[]): Promise<Map<string, Verdict>> {
    const verdicts = new Map<string, Verdict>();
    const uids = experiments.map(({ uid }) => uid);
    const rows = await this.#parts.database.read
      .selectFrom('experiment_results')
      .select(['experiment_uid', 'verdict'])
      .where('experiment_uid', 'in', uids)
      .execute();
    const stored = new Map(rows.map((row) => [row.experiment_uid, row.verdict]));
    for (const experiment of experiments) {
      const { uid } = experiment;
      const json = stored.get(uid);
      if (json === undefined) continue;
      const found = json === null ? null : parseStored(json, `verdict of ${uid}`);
      const isCurrent = found?.definition === hashDefinition(experiment);
      verdicts.set(uid, found && isCurrent ? found.verdict : await this.#rate(uid));
    }
    return verdicts;
  }

  /** Computes and stores the verdict of the present results. Other results that come meanwhile have another definition. */
  async #rate(uid: string): Promise<Verdict> {
    const { database, resultsWorkerPool } = this.#parts;
    const found = await database.read
      .selectFrom('experiments')
      .innerJoin('experiment_results', 'experiment_results.experiment_uid', 'experiments.uid')
      .select(['definition', 'results'])
      .where('uid', '=', uid)
      .executeTakeFirst();
    if (!found) return null;
    const verdict = parseVerdict(await resultsWorkerPool.rate(found.results), `verdict of ${uid}`);
    await database.transact((tx) =>
      tx
        .updateTable('experiment_results')
        .set({ verdict: JSON.stringify({ definition: hashDefinition(found), verdict }) })
        .where('experiment_uid', '=', uid)
        .execute(),
    );
    return verdict;
  }

  /** Returns the verdict of an acceptance test; null before its results. Its decision is final. */
  async readAcceptance(test: ListedAcceptanceTest): Promise<Verdict> {
    const { uid, application_uid, id, passed } = test;
    if (passed === null) return null;
    if (test.verdict !== null) return parseVerdict(test.verdict, `verdict of ${uid}`);
    const { database, questionMemory } = this.#parts;
    const found = await findAcceptanceTest(database.read, application_uid, id);
    const { decision } = found ? formatAcceptanceTest(found, await questionMemory.read(uid)) : {};
    const verdict = decision ? { word: rateRules(decision) } : null;
    await database.transact((tx) =>
      tx
        .updateTable('acceptance_tests')
        .set({ verdict: JSON.stringify(verdict) })
        .where('uid', '=', uid)
        .execute(),
    );
    return verdict;
  }
}
