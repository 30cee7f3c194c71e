/**
 * Remembers which questions were asked. The statistics of one experiment count its own looks only. A team that repeats an
 * experiment, leaves inputs out or turns a direction has more chances of a wrong verdict. With the worst 4 of 20 inputs left
 * out, equal sides are `better` in 29 % of cases. Rules that changed after a result was known
 * leave the decision undecided. Repeats by the same rules are counted and said; no p-value is adjusted for them, because the
 * first look has spent the whole error rate.
 */
import { hash } from 'node:crypto';
import { hasFact } from '@switchyard/contract/experiment-types/experiment-types.ts';
import type { QuestionRules } from '@switchyard/contract/experiments/comparisons/rule-changes.ts';
import type { RunId } from '@switchyard/contract/schemas/ids.ts';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Reader } from '../../platform/database/database.ts';
import { parseOptionsSummary } from '../../runs/run-columns.ts';
import type { ComputedResults } from '../results/compute-results.ts';
import { joinResults } from '../store/analysis-method.ts';
import { lockExperiment } from '../store/experiments.ts';
import type { ExperimentsTable } from '../store/schema.ts';
import {
  applyQuestion,
  describeQuestion,
  type EarlierLook,
  type LookHistory,
  type RememberedQuestion,
} from './describe-question.ts';
import { countSharedInputs, type SharedInputs, storeInputs } from './input-hashes.ts';
import type { QuestionLooksTable } from './schema.ts';
import { type CollectedGroup, formatGroupKey, type GroupName, type SideCollector } from './side-collector.ts';
import {
  findExistingUids,
  findRunSetups,
  type LookHead,
  listEarlierLooks,
  listInputs,
  listOwnLooks,
  type RunSetup,
  storeLooks,
} from './store.ts';

/** Of a question that is asked again and again, the inputs of so many newest looks are compared: 3 MB at most. */
const COMPARED_LOOKS_MAX = 200;

/** Bounds the memory to about 5 MB. */
const REMEMBERED_PAIRS_MAX = 10_000;

/** Reads questions. It remembers how many inputs two looks share, so that a repeated request compares none. */
class QuestionReader {
  readonly #shared = new LRUCache<string, SharedInputs>({ max: REMEMBERED_PAIRS_MAX });

  /** Returns the question of the experiment, over all its candidates; undefined before its first result. */
  async read(db: Reader, experimentUid: string): Promise<RememberedQuestion | undefined> {
    const histories: LookHistory[] = [];
    for (const own of await listOwnLooks(db, experimentUid)) {
      const looks = selectLooks(own, await listEarlierLooks(db, own));
      histories.push({ own, earlier: await this.#compare(db, own, looks) });
    }
    const uids = histories.flatMap(({ earlier }) => earlier.map(({ look }) => look.experiment_uid));
    return describeQuestion(histories, await findExistingUids(db, [...new Set(uids)]));
  }

  /** Returns the looks, the newest ones with the inputs that they share with `own`. */
  async #compare(db: Reader, own: QuestionLooksTable, looks: readonly LookHead[]): Promise<EarlierLook[]> {
    const shared = new Map<string, SharedInputs>();
    const unknown: string[] = [];
    for (const look of looks.slice(-COMPARED_LOOKS_MAX)) {
      const remembered = this.#shared.get(formatPair(own, look));
      if (remembered) shared.set(look.experiment_uid, remembered);
      else unknown.push(look.experiment_uid);
    }
    for (const read of await listInputs(db, own.question, unknown)) {
      const counted = countSharedInputs(own.inputs, read.inputs);
      shared.set(read.experiment_uid, counted);
      this.#shared.set(formatPair(own, read), counted);
    }
    return looks.map((look) => ({ look, inputs: shared.get(look.experiment_uid) }));
  }
}

type Hashed = Pick<QuestionLooksTable, 'inputs_hash'>;

/** Returns a key that is equal for equal inputs of two looks. */
const formatPair = (own: Hashed, look: Hashed): string => `${own.inputs_hash} ${look.inputs_hash}`;

/**
 * Selects the looks that count: not the batch of an acceptance test beside its tests, which are looks at the same runs. A
 * test sees its own batch as an earlier look only if the results of the batch were known before its rules.
 */
function selectLooks(own: LookHead, looks: readonly LookHead[]): LookHead[] {
  const tested = new Set(looks.filter(({ type }) => type === 'acceptance').map(({ runs_uid }) => runs_uid));
  return looks.filter((look) => {
    if (look.runs_uid === own.runs_uid)
      return own.type === 'acceptance' && (look.type === 'acceptance' || look.known_at < own.created_at);
    return look.type === 'acceptance' || !tested.has(look.runs_uid);
  });
}

/** Of an experiment with more candidates, the first ones are remembered. */
const REMEMBERED_CANDIDATES_MAX = 20;

/** The options that belong to a side. */
interface ComparedOptions {
  /** The seed, which varies with the repetition; absent for none. */
  except?: string;
  /** True for live runs: an option that the caller gave belongs to the run. */
  areLive: boolean;
}

/** The groups of runs on both sides of one comparison. */
interface QuestionSides {
  control: readonly CollectedGroup[];
  candidate: readonly CollectedGroup[];
}

/** An experiment whose results somebody can read now. */
export interface KnownExperiment
  extends Pick<
    QuestionLooksTable,
    'experiment_uid' | 'application_uid' | 'type' | 'experiment_id' | 'runs_uid' | 'created_at'
  > {
  rules: QuestionRules;
  sides: readonly QuestionSides[];
  options: ComparedOptions;
}

/** The results of an experiment, with what the memory stores about it. */
interface KnownResults extends Pick<KnownExperiment, 'rules' | 'options'> {
  experiment: ExperimentsTable;
  results: ComputedResults;
  /** The runs of which the results are. */
  collector: SideCollector;
  /** The sides of a test on live runs; absent for a batch, whose results name its groups. */
  sides?: readonly QuestionSides[];
}

/** Stores looks at questions, and reads them. It writes on its own, because a look is also an effect of reading results. */
export class QuestionMemory {
  readonly #parts: { database: Database; clock: Clock };
  readonly #reader = new QuestionReader();

  constructor(parts: { database: Database; clock: Clock }) {
    this.#parts = parts;
  }

  /**
   * Returns the results as JSON with the decision that also depends on earlier experiments. Results without an ended run, or
   * without a comparison, are no look.
   */
  async apply(known: KnownResults): Promise<string> {
    const { experiment, results, collector, rules, options } = known;
    const { uid, id, type, application_uid, created_at } = experiment;
    const { json, decision, compared = [] } = results;
    if (!collector.hasEnded || !decision || !hasFact(type, 'hasCandidates')) return joinResults(results);
    await this.remember({
      ...{ experiment_uid: uid, runs_uid: uid, experiment_id: id, type },
      ...{ application_uid, created_at, rules, options },
      sides: known.sides ?? compared.map((groups) => findSides(collector, groups)),
    });
    const question = await this.read(uid);
    return joinResults({ json, decision: applyQuestion(decision, question) });
  }

  /** Returns the question of the experiment; undefined before its first result. `db` reads within a transaction. */
  read(
    experimentUid: string,
    db: Reader = this.#parts.database.read,
  ): Promise<RememberedQuestion | undefined> {
    return this.#reader.read(db, experimentUid);
  }

  /** Stores a look for each comparison of the experiment. It does nothing for an experiment that was deleted meanwhile. */
  async remember(known: KnownExperiment): Promise<void> {
    const { database, clock } = this.#parts;
    const { sides, rules, options, ...experiment } = known;
    const remembered = sides
      .filter(({ control, candidate }) => control.length > 0 && candidate.length > 0)
      .slice(0, REMEMBERED_CANDIDATES_MAX);
    const groups = remembered.flatMap(({ control, candidate }) => [...control, ...candidate]);
    if (groups.length === 0) return;
    const setups = await findRunSetups(database.read, [
      ...new Set(groups.map((group) => group.first_run_id)),
    ]);
    const describe = createSideHash(setups, options);
    const looks = remembered.map(({ control, candidate }): QuestionLooksTable => {
      const hashes = [describe(control), describe(candidate)];
      const inputs = storeInputs(
        new Set([...control, ...candidate].flatMap(({ contents }) => [...contents])),
      );
      return {
        ...experiment,
        question: hash('sha256', [...hashes].sort().join(' '), 'base64'),
        rules: JSON.stringify(rules),
        inputs,
        inputs_hash: hash('sha256', inputs, 'base64'),
        known_at: clock.now(),
      };
    });
    const byQuestion = new Map(looks.map((look) => [look.question, look]));
    await database.transact(async (tx) => {
      if (await lockExperiment(tx, experiment.runs_uid)) await storeLooks(tx, [...byQuestion.values()]);
    });
  }
}

type ComparedSides = NonNullable<ComputedResults['compared']>[number];

function findSides(collector: SideCollector, { control, candidate }: ComparedSides): QuestionSides {
  const find = (name: GroupName) => {
    const key = formatGroupKey(name);
    return collector.listGroups((one) => formatGroupKey(one) === key);
  };
  return { control: find(control), candidate: find(candidate) };
}

/** Returns the function that hashes what a side ran: its executables and options. */
function createSideHash(setups: readonly RunSetup[], compared: ComparedOptions) {
  const byRun = new Map(setups.map((setup) => [setup.id, setup]));
  const describeRun = (id: RunId): string => {
    const setup = byRun.get(id);
    if (!setup) return '';
    return JSON.stringify([setup.hash ?? setup.executable_id, listOptions(setup, compared)]);
  };
  return (groups: readonly CollectedGroup[]): string => {
    const contents = groups.map(({ name, first_run_id }) =>
      name.ensemble_id
        ? JSON.stringify(['ensemble', name.ensemble_id, name.option_set])
        : describeRun(first_run_id),
    );
    return hash('sha256', JSON.stringify([...new Set(contents)].sort()), 'base64');
  };
}

/** Returns names and values of the options, without the seed: other seeds ask the same question. */
function listOptions(run: RunSetup, { except, areLive }: ComparedOptions): string[] {
  return parseOptionsSummary(run)
    .filter(({ name, source }) => name !== except && !(areLive && source === 'run'))
    .map(({ name, value }) => JSON.stringify([name, value]))
    .sort();
}
