/** Reads the looks at the question of an experiment, and compares their inputs. */
import { LRUCache } from 'lru-cache';
import type { Reader } from '../../platform/database/database.ts';
import {
  describeQuestion,
  type EarlierLook,
  type LookHistory,
  type RememberedQuestion,
} from './describe-question.ts';
import { countSharedInputs, type SharedInputs } from './input-hashes.ts';
import type { QuestionLooksTable } from './schema.ts';
import { findExistingUids, type LookHead, listEarlierLooks, listInputs, listOwnLooks } from './store.ts';

/** Of a question that is asked again and again, the inputs of so many newest looks are compared: 3 MB at most. */
const COMPARED_LOOKS_MAX = 200;

/** Bounds the memory to about 5 MB. */
const REMEMBERED_PAIRS_MAX = 10_000;

/** Reads questions. It remembers how many inputs two looks share, so that a repeated request compares none. */
export class QuestionReader {
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
