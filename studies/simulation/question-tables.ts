/** The table of teams that look at one question several times: how often equal sides are released. */
import { decideSides } from '@switchyard/contract/experiments/presentation/decide-release.ts';
import {
  applyQuestion,
  describeQuestion,
} from '@switchyard/server/experiments/questions/describe-question.ts';
import { countSharedInputs, storeInputs } from '@switchyard/server/experiments/questions/input-hashes.ts';
import { describeSettings } from '@switchyard/server/experiments/questions/rules.ts';
import type { QuestionLooksTable } from '@switchyard/server/experiments/questions/schema.ts';
import { DEFAULT_INDICATOR } from '@switchyard/server/experiments/results/select-indicators.ts';
import { Resampler } from '@switchyard/server/experiments/statistics/bootstrap.ts';
import { compareFamily } from '@switchyard/server/experiments/statistics/paired/family.ts';
import { RandomGenerator } from '@switchyard/server/platform/random-generator.ts';
import { drawPairedRuns, INDICATOR, type SimulatedRuns } from './paired-populations.ts';
import type { SimulationRow, SimulationTable } from './table-rows.ts';

const INPUTS = 20;
const RESAMPLES = 399;
const LOOKS = [2, 5, 10] as const;
/** The first look that leaves inputs out leaves out so many, and each later one another. */
const LEFT_OUT_MIN = 4;

type Direction = 'minimize' | 'maximize';

/** The choice of a team for one of its looks, from the runs of the first. */
interface Look {
  runs: SimulatedRuns;
  direction?: Direction;
}
type Team = (look: number, first: SimulatedRuns, draw: () => SimulatedRuns) => Look;

/** Sides that are equal on average; the noise of each run is 5 %. */
const createDraw = (generator: RandomGenerator) => () =>
  drawPairedRuns({}, { inputs: INPUTS, repetitions: 1 }, generator);

const readValue = ({ indicators }: SimulatedRuns['control'][number]): number => Number(indicators[0]?.value);

/** Returns the runs without the inputs on which the candidate lost most. */
function leaveOutWorst({ control, candidate }: SimulatedRuns, count: number): SimulatedRuns {
  const loss = (index: number): number => {
    const [before, after] = [control[index], candidate[index]];
    return before && after ? readValue(after) / readValue(before) : 0;
  };
  const worst = new Set(
    control
      .map((_, index) => index)
      .sort((a, b) => loss(b) - loss(a))
      .slice(0, count),
  );
  const keep = (runs: SimulatedRuns['control']) => runs.filter((_, index) => !worst.has(index));
  return { control: keep(control), candidate: keep(candidate) };
}

/** Returns true if the team releases the candidate after any look. Without memory each look decides alone. */
function releasesOnce(team: Team, looks: number, seed: string, hasMemory: boolean): boolean {
  const draw = createDraw(new RandomGenerator(seed));
  const first = draw();
  const earlier: QuestionLooksTable[] = [];
  for (let look = 0; look < looks; look += 1) {
    const { runs, direction = 'minimize' } = look === 0 ? { runs: first } : team(look, first, draw);
    const decision = decideRuns(runs, direction, `${seed} ${look}`);
    const own = buildLook(runs, direction, look);
    const compared = earlier.map((one) => ({
      look: one,
      inputs: countSharedInputs(own.inputs, one.inputs),
    }));
    const question = hasMemory ? describeQuestion([{ own, earlier: compared }], new Set()) : undefined;
    if (applyQuestion(decision, question).release === 'yes') return true;
    earlier.push(own);
  }
  return false;
}

function decideRuns(runs: SimulatedRuns, direction: Direction, seed: string) {
  const [indicators = []] = compareFamily(
    [runs],
    [{ ...DEFAULT_INDICATOR, indicator: INDICATOR, role: 'primary', direction }],
    {
      ...{ unit: 'input', serial: false, clusterings: [], progress: 'complete' },
      listIndicatorBlockers: () => [],
      resampler: new Resampler({ seed, resamples: RESAMPLES }),
    },
  );
  return decideSides({ names: { control: 'control', candidate: 'candidate' }, indicators });
}

/** Each experiment is created after the results of the one before. */
function buildLook(runs: SimulatedRuns, direction: Direction, look: number): QuestionLooksTable {
  return {
    ...{ experiment_uid: `${look}`, runs_uid: `${look}`, experiment_id: `look-${look}` },
    ...{ application_uid: '', question: '', inputs_hash: '', type: 'batch' },
    rules: JSON.stringify(describeSettings({ objectives: { [INDICATOR]: direction } })),
    inputs: storeInputs(runs.control.map(({ input_id }) => input_id)),
    ...{ created_at: 2 * look, known_at: 2 * look + 1 },
  };
}

function buildRow(
  name: string,
  team: Team,
  { hasMemory = true, known }: { hasMemory?: boolean; known?: string } = {},
) {
  return {
    name,
    ...(known === undefined ? {} : { known }),
    cells: LOOKS.map(
      (looks) => (experiments: number) =>
        Array.from({ length: experiments }, (_, index) =>
          Number(releasesOnce(team, looks, `team ${index}`, hasMemory)),
        ).reduce((sum, one) => sum + one, 0) / experiments,
    ),
  } satisfies SimulationRow;
}

const leaveOut: Team = (look, first) => ({ runs: leaveOutWorst(first, LEFT_OUT_MIN + look - 1) });
const turn: Team = (_look, _first, draw) => ({
  runs: draw(),
  direction: 'maximize',
});
const repeat: Team = (_look, _first, draw) => ({ runs: draw() });
const WITHOUT_MEMORY = 'a verdict is about one experiment; the decision depends on the earlier ones too';

/** Columns are the looks of one team. */
export const QUESTION_TABLES: readonly SimulationTable[] = [
  {
    id: 'repeated-questions',
    title: 'A team looks several times at equal sides on 20 inputs: released',
    shows: 'wrong',
    columns: LOOKS.map((looks) => `${looks} looks`),
    rows: [
      buildRow('the worst inputs left out', leaveOut),
      buildRow('the worst inputs left out, without memory', leaveOut, {
        ...{ hasMemory: false, known: WITHOUT_MEMORY },
      }),
      buildRow('a turned direction', turn),
      buildRow('a turned direction, without memory', turn, { hasMemory: false, known: WITHOUT_MEMORY }),
      buildRow('repeats by the same rules', repeat, {
        known: 'repeats are counted and said, and no p-value is adjusted',
      }),
    ],
  },
];
