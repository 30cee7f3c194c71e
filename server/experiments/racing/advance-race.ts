/**
 * Continues a race whose runs have all ended: drops configurations, and plans the next inputs for the others. Plan and
 * decisions are written in one transaction. A process that is killed before it leaves the runs, from which the next one
 * computes the same decisions.
 */
import type { Clock } from '../../platform/clock.ts';
import type { Database, Reader, Writer } from '../../platform/database/database.ts';
import { insertPlannedRuns } from '../../runs/store/planned-runs.ts';
import { buildRunPlan } from '../operations/build-run-plan.ts';
import { hasOpenRuns } from '../operations/experiment-ends.ts';
import { readObservations } from '../results/read-observations.ts';
import { parseObservation } from '../results/run-reader.ts';
import { resolveObjective } from '../results/select-indicators.ts';
import { isRaceOver, type RacePlan } from '../statistics/racing/race-plan.ts';
import { RaceReader } from '../statistics/racing/read-race.ts';
import { type BatchDefinition, parseBatchDefinition } from '../store/batch-definition.ts';
import {
  findExperimentByUid,
  listExperimentInputs,
  lockExperiment,
  updateExperiment,
} from '../store/experiments.ts';
import type { ExperimentsTable } from '../store/schema.ts';
import { planRaceRound } from './plan-race-runs.ts';

interface Parts {
  database: Database;
  clock: Clock;
}

/** Continues the race of the experiment; returns false when there is none, or when it is over. */
export async function advanceRace({ database, clock }: Parts, uid: string): Promise<boolean> {
  const experiment = await findExperimentByUid(database.read, uid);
  const definition = experiment && parseBatchDefinition(experiment);
  if (experiment?.status !== 'started' || !definition?.racing || isRaceOver(definition.racing)) return false;
  const race = await decide(database.read, experiment, definition, definition.racing);
  const isOver = isRaceOver(race);
  const isPlanned = await database.transact(async (tx) => {
    const locked = await lockExperiment(tx, uid);
    // Another process has continued the race meanwhile.
    if (locked?.status !== 'started' || locked.definition !== experiment.definition) return false;
    if (await hasOpenRuns(tx, uid)) return false;
    const planned = isOver ? race : await insertRound(tx, locked, { definition, race, now: clock.now() });
    await updateExperiment(tx, uid, {
      definition: JSON.stringify({ ...definition, racing: planned } satisfies BatchDefinition),
      updated_at: clock.now(),
    });
    return !isOver;
  });
  if (isPlanned) database.notify('runs-planned');
  return !isOver;
}

/** Returns the race with the decisions after all planned inputs. */
async function decide(
  db: Reader,
  experiment: ExperimentsTable,
  definition: BatchDefinition,
  race: RacePlan,
): Promise<RacePlan> {
  const reader = new RaceReader(race);
  for await (const batch of readObservations(
    db,
    experiment.uid,
    new Map(Object.entries(definition.versions)),
    { series: false, ensembles: definition.order.ensembles !== undefined },
  ))
    for (const run of batch) reader.add(parseObservation(run));
  const { dropped } = reader.computeState(
    resolveObjective(definition.objectives?.[race.indicator]),
    race.planned_inputs,
  );
  return { ...race, dropped, decided_inputs: race.planned_inputs };
}

/** Plans the next round of the race, and returns the race with it. */
async function insertRound(
  tx: Writer,
  experiment: ExperimentsTable,
  { definition, race, now }: { definition: BatchDefinition; race: RacePlan; now: number },
): Promise<RacePlan> {
  const { uid } = experiment;
  const { seeds, seed_option } = definition;
  const formatKey = (input: { input_set_id: string; input_id: string }) =>
    JSON.stringify([input.input_set_id, input.input_id]);
  const contents = new Map((await listExperimentInputs(tx, uid)).map((input) => [formatKey(input), input]));
  const planned = planRaceRound({
    race,
    optionSets: new Map(Object.entries(definition.option_sets)),
    seeds: seeds && seed_option ? { values: seeds, option: seed_option } : null,
    seed: definition.run_order.seed,
    findContent(input) {
      const content = contents.get(formatKey(input));
      if (!content) throw new Error(`The experiment ${uid} has no content of the input ${input.input_id}.`);
      return content;
    },
  });
  await insertPlannedRuns(tx, buildRunPlan(experiment, now), planned.runs);
  return planned.race;
}
