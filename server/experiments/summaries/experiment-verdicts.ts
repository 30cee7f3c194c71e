/** Verdicts of ended experiments for the list of all types. Each is computed from the stored results once, and stored. */
import { ExperimentVerdict } from '@switchyard/contract/experiments/experiment-summaries.ts';
import { rateRules } from '@switchyard/contract/experiments/presentation/rate-experiment.ts';
import { RatedResults, rateResults } from '@switchyard/contract/experiments/rate-results.ts';
import { nullable } from '@switchyard/contract/schemas/field-schemas.ts';
import { createJsonParser } from '@switchyard/contract/schemas/json-parser.ts';
import type { Database } from '../../platform/database/database.ts';
import { formatAcceptanceTest } from '../acceptance/format-acceptance-test.ts';
import type { QuestionMemory } from '../questions/question-memory.ts';
import { findAcceptanceTest, type ListedAcceptanceTest } from '../store/acceptance-tests.ts';
import { findExperimentResults, lockExperiment } from '../store/experiments.ts';

type Verdict = ExperimentVerdict | null;

const parseResults = createJsonParser(RatedResults);
const parseVerdict = createJsonParser(nullable(ExperimentVerdict));

/** Reads verdicts, and writes on its own those that a list is the first to ask for. */
export class ExperimentVerdicts {
  readonly #parts: { database: Database; questionMemory: QuestionMemory };

  constructor(parts: { database: Database; questionMemory: QuestionMemory }) {
    this.#parts = parts;
  }

  /** Returns the verdicts of the experiments that have results, by uid. */
  async read(uids: readonly string[]): Promise<Map<string, Verdict>> {
    const rows = await this.#parts.database.read
      .selectFrom('experiment_results')
      .select(['experiment_uid', 'verdict'])
      .where('experiment_uid', 'in', uids)
      .execute();
    const verdicts = new Map<string, Verdict>();
    for (const { experiment_uid: uid, verdict } of rows)
      verdicts.set(
        uid,
        verdict === null ? await this.#rate(uid) : parseVerdict(verdict, `verdict of ${uid}`),
      );
    return verdicts;
  }

  /** Computes and stores the verdict of stored results. The lock excludes that others replace the results meanwhile. */
  #rate(uid: string): Promise<Verdict> {
    return this.#parts.database.transact(async (tx) => {
      const results = (await lockExperiment(tx, uid)) && (await findExperimentResults(tx, uid));
      if (results === undefined) return null;
      const verdict = rateResults(parseResults(results, `experiment_results.results of ${uid}`));
      await tx
        .updateTable('experiment_results')
        .set({ verdict: JSON.stringify(verdict) })
        .where('experiment_uid', '=', uid)
        .execute();
      return verdict;
    });
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
